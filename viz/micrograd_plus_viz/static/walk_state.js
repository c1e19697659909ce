// What each node holds at each moment of a recorded program.

// The last step that uses each node, the steps in which a node receives and sends, and its value after k steps. At the
// start of each walk, inner nodes are empty again; leaves keep their gradients.
function walkOf(data) {
  // The same program with other numbers, in a comparison.
  const { other } = data;
  const lastOf = {};
  const [arrivals, departures] = [data.nodes.map(() => []), data.nodes.map(() => [])];
  data.steps.forEach((step, i) => {
    for (const node of nodesOfStep(data, step)) lastOf[node] = i;
    arrivals[step.to].push(i);
    departures[step.from].push(i);
  });
  for (const node of data.pending ?? []) delete lastOf[node];
  const starts = data.walks.map(({ at }) => at);
  const walkAt = (i) => starts.findLastIndex((start) => start <= i);
  const latest = (node, k, since) => arrivals[node].findLast((i) => i < k && i >= since);
  const begins = (at, node) => {
    const { word, starts: held } = data.walks[at];
    if (other) return { place: held[node] ?? null, word, other: other.walks[at].starts[node] ?? null };
    if (held[node] !== undefined) return { place: held[node], word };
    const kept = data.nodes[node].kind === "leaf" && !data.walks[at].back ? at - 1 : -1;
    for (let earlier = kept; earlier >= 0; earlier -= 1) {
      if (data.walks[earlier].back) return endOf(earlier, node, starts[earlier + 1]);
    }
    return { place: null, word };
  };
  // The value of a node in a walk before step k.
  const endOf = (at, node, k) => {
    const found = latest(node, k, starts[at]);
    const { ends, word } = data.walks[at];
    const isOver = k >= (starts[at + 1] ?? data.steps.length);
    if (other && found !== undefined) {
      const [mine, theirs] = isOver ? [ends[node], other.walks[at].ends[node]] : [];
      return { place: mine ?? data.steps[found].after, word, other: theirs ?? other.steps[found].after };
    }
    if (ends[node] !== undefined && isOver) return { place: ends[node], word };
    return found === undefined ? begins(at, node) : { place: data.steps[found].after, word };
  };
  const held = (node, k) => endOf(walkAt(Math.max(0, k - 1)), node, k);
  // The leaves that have another value in a walk than the program began with, each with its value and its text.
  const first = data.nodes.map(({ value }, i) => [value, data.labels[i][1]]);
  const changed = [...new Set(data.walks.flatMap(({ values }) => Object.keys(values).map(Number)))];
  const valuesIn = (at) => changed.map((node) => [node, ...(data.walks[at].values[node] ?? first[node])]);
  const atEnd = (i) => (i + 1 === (starts[walkAt(i) + 1] ?? data.steps.length)
    ? Object.keys(data.walks[walkAt(i)].ends).map(Number) : []);
  const newWalk = (i) => Math.max(0, starts.indexOf(i));
  return { walkAt, valuesIn, atEnd, lastOf, arrivals, departures, begins, held, newWalk };
}

// The quantity that the walk at step k sends.
const wordAt = (data, k) => data.walks.findLast(({ at }, number) => number === 0 || at < k).word;

// In a comparison, what the receiver of a step has in the other walk before or after it.
const otherAt = (data, step, word) => (data.other ? { other: data.other.steps[data.steps.indexOf(step)][word] } : {});
