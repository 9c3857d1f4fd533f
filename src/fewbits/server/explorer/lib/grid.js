// Keys within a grid of buttons or links, of which one is in the order of tabs.

/** Arrow keys, Home and End move the focus; `perLine()` cells lie beside each other. */
export function roving(grid, perLine) {
  const cells = () => [...grid.children];
  const enter = (cell) => {
    for (const each of cells()) each.tabIndex = each === cell ? 0 : -1;
  };
  grid.addEventListener("focusin", (event) => enter(event.target.closest(".cell")));
  grid.addEventListener("keydown", (event) => {
    const all = cells();
    const at = all.indexOf(document.activeElement);
    const steps = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      ArrowDown: at + perLine(),
      ArrowUp: at - perLine(),
      Home: 0,
      End: all.length - 1,
    };
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    all[Math.min(Math.max(steps[event.key], 0), all.length - 1)].focus();
  });
  const first = cells().find((cell) => cell.matches('[aria-current="true"]')) ?? cells()[0];
  if (first) enter(first);
}

/** How many cells of a grid lie in its first line. */
export function lineLength(grid) {
  const [first, ...rest] = grid.children;
  const next = rest.findIndex((cell) => cell.offsetTop !== first.offsetTop);
  return next < 0 ? rest.length + 1 : next + 1;
}
