// Pointer and keys on the map: dragging moves, the wheel and two fingers zoom, a line
// around points selects them.

const STILL = 4; // pixels that a click may move
const KEYS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function placeIn(element, event) {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/**
 * Calls the handlers in `told`: moved(), hovered(left, top), left(), clicked(left, top),
 * lassoing(line), lassoed(line), key(name). `wantsLasso()` tells whether a drag selects.
 */
export function gestures(element, camera, told, wantsLasso) {
  const pointers = new Map();
  let line = null;
  let moved = 0;

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, placeIn(element, event));
    moved = 0;
    line = (event.shiftKey || wantsLasso()) && pointers.size === 1 ? [camera.toMap(...placeIn(element, event))] : null;
  });

  element.addEventListener("pointermove", (event) => {
    const at = placeIn(element, event);
    const from = pointers.get(event.pointerId);
    if (!from) {
      told.hovered(...at);
      return;
    }
    moved += Math.hypot(at[0] - from[0], at[1] - from[1]);
    if (line) {
      const [x, y] = camera.toScreen(...line.at(-1));
      if (Math.hypot(at[0] - x, at[1] - y) > 4) line.push(camera.toMap(...at));
      told.lassoing(line);
    } else if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const before = Math.hypot(from[0] - other[0], from[1] - other[1]);
      const after = Math.hypot(at[0] - other[0], at[1] - other[1]);
      camera.zoomAt(after / Math.max(before, 1), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
      camera.move((at[0] - from[0]) / 2, (at[1] - from[1]) / 2);
      told.moved();
    } else {
      camera.move(at[0] - from[0], at[1] - from[1]);
      told.moved();
    }
    pointers.set(event.pointerId, at);
  });

  const ended = (event, isDone) => {
    if (!pointers.delete(event.pointerId)) return;
    const drawn = line;
    line = null;
    if (drawn && drawn.length > 2 && isDone) told.lassoed(drawn);
    else if (moved <= STILL && isDone) told.clicked(...placeIn(element, event));
    if (drawn) told.lassoing(null);
  };
  element.addEventListener("pointerup", (event) => ended(event, true));
  element.addEventListener("pointercancel", (event) => ended(event, false));
  element.addEventListener("pointerleave", () => told.left());

  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      camera.zoomAt(Math.exp((-event.deltaY * lines) / 400), ...placeIn(element, event));
      told.moved();
    },
    { passive: false },
  );

  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 0.3 : 0.08;
    if (event.key in KEYS) {
      const [right, down] = KEYS[event.key];
      camera.move(right * step * camera.width, down * step * camera.height);
    } else if (event.key === "+" || event.key === "=") camera.zoomAt(1.4);
    else if (event.key === "-") camera.zoomAt(1 / 1.4);
    else if (event.key === "0") camera.reset();
    else {
      if (told.key(event.key)) event.preventDefault();
      return;
    }
    event.preventDefault();
    told.moved();
  });
}
