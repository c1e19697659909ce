// What each step of a walk changes in its graph. State k is the state after k steps; negative states show the values
// of the program, one by one.

// The nodes whose values the program computes, in order.
const bornIn = (data) => data.nodes.flatMap((node, i) => (node.kind === "leaf" ? [] : [i]));

function stepsOn(graph, data, walk) {
  const born = bornIn(data);

  // What the graph shows before the first step.
  function begin() {
    holdAtStart();
    if (data.unborn) for (const i of born) graph.unborn(i, true);
  }

  function holdAtStart() {
    data.nodes.forEach((_, i) => graph.hold(i, walk.begins(0, i)));
    showValues(walk.valuesIn(0));
  }

  // What leaves have at a negative state.
  function holdEarly(index) {
    const { holds, values } = walk.early(born[Math.max(0, born.length + index - 1)]);
    data.nodes.forEach((_, i) => graph.hold(i, holds(i)));
    showValues(values);
  }

  // Takes step i, or takes it back.
  function apply(i, on) {
    if (i < 0) {
      graph.unborn(born[born.length + i], !on);
      if (on && i === -1) holdAtStart();
      return;
    }
    const step = data.steps[i];
    const next = walk.newWalk(i);
    if (next) {
      graph.forget();
      data.nodes.forEach((_, node) => graph.hold(node, on ? walk.begins(next, node) : walk.held(node, i)));
      showValues(walk.valuesIn(on ? next : next - 1));
    }
    if (!step && data.error) graph.failed(data.error, on);
    if (next && !on) for (let j = data.walks[next - 1].at; j < i; j += 1) travel(j, true);
    else if (step) travel(i, on);
    if (!step) return;
    for (const node of nodesOfStep(data, step)) if (walk.lastOf[node] === i) graph.finish(node, on);
    for (const node of [step.from, step.to, ...walk.atEnd(i)]) graph.hold(node, walk.held(node, on ? i + 1 : i));
  }

  // Shows the values that leaves have.
  function showValues(values) {
    for (const [node, place, text] of values) {
      data.nodes[node].value = place;
      graph.value(node, text);
    }
  }

  function travel(i, on) {
    const { contribution } = data.steps[i];
    for (const edge of edgesOf(data.steps[i])) graph.travelled(edge, on, contribution);
  }

  return { begin, apply, holdEarly };
}
