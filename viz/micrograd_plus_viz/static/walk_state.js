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
  const latest = (steps, k, since) => steps.findLast((i) => i < k && i >= since);
  const sentBy = (i) => {
    const place = data.steps[i]?.upstreams.upstream ?? null;
    return other && place !== null ? { place, other: other.steps[i].upstream } : { place };
  };
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
  // The value of a node in a walk before step k: what arrived last. A node that has sent has what it sent, which a hook
  // may have changed.
  const endOf = (at, node, k) => {
    const found = latest(arrivals[node], k, starts[at]);
    const { ends, word } = data.walks[at];
    const isOver = k >= (starts[at + 1] ?? data.steps.length);
    const sent = sentBy(latest(departures[node], k, starts[at]));
    if (sent.place !== null) return { word, ...sent };
    if (other && found !== undefined) {
      const [mine, theirs] = isOver ? [ends[node], other.walks[at].ends[node]] : [];
      return { place: mine ?? data.steps[found].after, word, other: theirs ?? other.steps[found].after };
    }
    if (ends[node] !== undefined && isOver) return { place: ends[node], word };
    return found === undefined ? begins(at, node) : { place: data.steps[found].after, word };
  };
  const held = (node, k) => endOf(walkAt(Math.max(0, k - 1)), node, k);
  // The leaves that have another value than the program began with in a walk, or as values are computed, each with its
  // value and its text in a walk.
  const first = data.nodes.map(({ value }, i) => [value, data.labels[i][1]]);
  const changed = [...new Set([...data.walks, ...data.early ?? []].flatMap(({ values }) => Object.keys(values)))]
    .map(Number);
  const valuesIn = (at) => changed.map((node) => [node, ...(data.walks[at].values[node] ?? first[node])]);
  // While values are computed, leaves and results that keep a gradient have what they had as the value was computed.
  const early = (upTo) => {
    const changes = (data.early ?? []).filter(({ from }) => from <= upTo);
    const leaves = data.nodes.flatMap(({ kind }, node) => (kind === "leaf" ? [node] : []));
    const lastOf = (word, node) => changes.findLast((change) => change[word][node] !== undefined)?.[word][node];
    return {
      holds: (node) => {
        const place = lastOf("gradients", node);
        const began = data.nodes[node].kind === "leaf" ? begins(0, node) : { place: null, word: data.walks[0].word };
        return place === undefined ? began : { ...began, place };
      },
      values: leaves.map((node) => [node, ...(lastOf("values", node) ?? data.walks[0].values[node] ?? first[node])]),
    };
  };
  const atEnd = (i) => (i + 1 === (starts[walkAt(i) + 1] ?? data.steps.length)
    ? Object.keys(data.walks[walkAt(i)].ends).map(Number) : []);
  const newWalk = (i) => Math.max(0, starts.indexOf(i));
  return { walkAt, early, valuesIn, atEnd, lastOf, arrivals, departures, begins, held, newWalk };
}

// The same data with nodes and labels of its own: a player writes into them what leaves have as it goes.
const withOwnNodes = (data) => ({ ...data, nodes: data.nodes.map((node) => ({ ...node })),
  labels: data.labels.map((label) => [...label]) });

// The quantity that the walk at step k sends.
const wordAt = (data, k) => data.walks.findLast(({ at }, number) => number === 0 || at < k).word;

// In a comparison, what the receiver of a step has in the other walk before or after it.
const otherAt = (data, step, word) => (data.other ? { other: data.other.steps[data.steps.indexOf(step)][word] } : {});
