"""What a browser shows of the studio's graph."""

from typing import Any

Box = list[float]
"""Left, top, right and bottom, in pixels."""


def nodes(browser: Any) -> list[list[str]]:
    """Return the kind and the label of each node."""
    return browser.execute_script(
        "return [...document.querySelectorAll('#nodes .node')].map((node) =>"
        " [node.classList[1], node.querySelector('title').textContent])"
    )


def edges(browser: Any) -> list[str]:
    """Return the relation of each edge."""
    return browser.execute_script(
        "return [...document.querySelectorAll('#edges .edge')].map((e) => e.dataset.relation)"
    )


def boxes(browser: Any, selector: str) -> list[Box]:
    """Return the sides of each element that is seen: left, top, right, bottom."""
    return browser.execute_script(
        "const seen = (element) => element.getClientRects().length;"
        "return [...document.querySelectorAll(arguments[0])].filter(seen)"
        ".map((e) => e.getBoundingClientRect()).map((b) => [b.left, b.top, b.right, b.bottom])",
        selector,
    )


def meet(one: Box, other: Box, slack: float = 1.5) -> bool:
    """Return whether two boxes share more than ``slack`` pixels across and down."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across > slack and down > slack


def within(box: Box, outer: Box, slack: float = 1.5) -> bool:
    return (
        box[0] >= outer[0] - slack
        and box[1] >= outer[1] - slack
        and box[2] <= outer[2] + slack
        and box[3] <= outer[3] + slack
    )


def labels(browser: Any) -> list[str]:
    """Return the labels that are shown."""
    return browser.execute_script(
        "return [...document.querySelectorAll('#labels .label')].map((e) => e.textContent)"
    )


def resize(browser: Any, width: int, height: int) -> None:
    """Give the window's inside a size in pixels."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
