// Several walks side by side, moved together.
export function mountTogether(host, walks, index) {
  let moving = false;
  const players = [];
  const along = (k) => (i) => {
    if (moving || players.length < walks.length) return;
    moving = true;
    players.forEach((player, j) => { if (j !== k) player.seek(i); });
    moving = false;
  };
  for (const [k, data] of walks.entries()) {
    players.push(mount(host.appendChild(make("div", "walk")), data, { index, onIndex: along(k) }));
  }
  players[0].focus();
  return players;
}
