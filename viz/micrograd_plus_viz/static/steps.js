// What each step of a walk changes in its graph. State k is the state after k steps; negative states show the values
// of the program, one by one.

// The nodes whose values the program computes, in order.
const bornIn = (data) => data.nodes.flatMap((node, i) => (node.kind === "leaf" ? [] : [i]));

function stepsOn(graph, data, walk) {
  const born = bornIn(data);

  // What the graph shows before the first step.
  function begin() {
    data.nodes.forEach((_, i) => graph.hold(i, walk.begins(0, i)));
    showValues(0);
    if (data.unborn) for (const i of born) graph.unborn(i, true);
  }

  // Takes step i, or takes it back.
  function apply(i, on) {
    if (i < 0) { graph.unborn(born[born.length + i], !on); return; }
    const step = data.steps[i];
    if (!step) { if (data.error) graph.failed(data.error, on); return; }
    const next = walk.newWalk(i);
    if (next) {
      graph.forget();
      data.nodes.forEach((_, node) => graph.hold(node, on ? walk.begins(next, node) : walk.held(node, i)));
    }
    if (next && !on) for (let j = data.walks[next - 1].at; j < i; j += 1) travel(j, true);
    else travel(i, on);
    for (const node of nodesOfStep(data, step)) if (walk.lastOf[node] === i) graph.finish(node, on);
    for (const node of [step.to, ...walk.atEnd(i)]) graph.hold(node, walk.held(node, on ? i + 1 : i));
    if (next) showValues(walk.walkAt(on ? i : i - 1));
  }

  // Shows the values that leaves have in a walk.
  function showValues(at) {
    for (const [node, place, text] of walk.valuesIn(at)) {
      data.nodes[node].value = place;
      graph.value(node, text);
    }
  }

  function travel(i, on) {
    const { contribution } = data.steps[i];
    for (const edge of edgesOf(data.steps[i])) graph.travelled(edge, on, contribution);
  }

  return { begin, apply };
}
