"""Reads of a page that wait until it tells what is asked."""

#: Counts requests that are asked and not yet read to their end.
COUNTED = """
window.underway = 0;
const ask = window.fetch;
window.fetch = async (...given) => {
  window.underway += 1;
  try {
    const answer = await ask(...given);
    await answer.clone().arrayBuffer().catch(() => {});
    return answer;
  } finally {
    window.underway -= 1;
  }
};
"""
_QUIET = """() => new Promise((resolve) => {
  let since = 0;
  const look = () => {
    const busy = window.underway || document.querySelector('[aria-busy=true], .busy');
    since = busy ? 0 : since + 1;
    if (since > 5) resolve(true);
    else requestAnimationFrame(look);
  };
  look();
})"""


def address_of(page):
    """Return the address as the page has it now: `page.url` follows it."""
    return page.evaluate("() => location.href")


def quiet(page):
    """Wait until nothing is under way, and what came has been drawn."""
    page.wait_for_function(_QUIET)
