// The clock of the stage: one event moves from 0 to 1, and the next step follows. Both stop and go on together.

const EVENT_PART = 0.86;

// `draw` shows an event at a time from 0 to 1. Under reduced motion, events are only shown at their end.
function makeClock(draw) {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let [begun, length, frame, timer, due] = [0, 0, 0, 0, 0];
  let paused = null;

  const tick = (now) => {
    const t = Math.min(1, Math.max(0, (now - begun) / length));
    draw(t);
    if (t < 1) frame = requestAnimationFrame(tick);
    else length = 0;
  };

  function end() {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    [length, due, paused] = [0, 0, null];
  }

  // Starts an event; without a duration, shows its end at once.
  function start(duration) {
    end();
    length = still.matches ? 0 : EVENT_PART * duration;
    if (!length) { draw(1); return; }
    begun = performance.now();
    draw(0);
    frame = requestAnimationFrame(tick);
  }

  function after(wait, then) {
    clearTimeout(timer);
    due = performance.now() + wait;
    timer = setTimeout(then, wait);
  }

  // Stops at once, also in the middle of an event.
  function stop() {
    const now = performance.now();
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    paused = length ? { ran: now - begun, left: Math.max(0, due ? due - now : length - (now - begun)) } : null;
  }

  function go(then) {
    begun = performance.now() - paused.ran;
    frame = requestAnimationFrame(tick);
    after(paused.left, then);
    paused = null;
  }

  return { start, after, stop, go, end, isPaused: () => paused !== null, isMoving: () => length > 0 && !paused };
}
