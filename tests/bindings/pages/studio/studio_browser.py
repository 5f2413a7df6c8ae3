"""What a browser shows of the studio: it is opened, waited for and read here."""

from collections.abc import Callable
from typing import Any

from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

SECONDS = 30


class Studio:
    """The studio in a browser."""

    def __init__(self, browser: Any, url: str) -> None:
        self.browser = browser
        self.url = url

    def open(self, place: str) -> "Studio":
        """Open a place of the page, such as "#/alice/log", as from another page."""
        self.browser.get("about:blank")
        self.browser.get(f"{self.url}/studio{place}")
        return self

    def all(self, selector: str) -> list[Any]:
        return self.browser.find_elements("css selector", selector)

    def one(self, selector: str) -> Any:
        """Return an element, waited for."""
        self.until(lambda: self.all(selector), selector)
        return self.all(selector)[0]

    def texts(self, selector: str) -> list[str]:
        """Return the texts of the elements, as they are in the document."""
        return self.browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent.trim())",
            selector,
        )

    def until(self, true: Callable[[], Any], what: object = "") -> None:
        """Wait until something is so."""
        WebDriverWait(self.browser, SECONDS, 0.05).until(lambda _: true(), str(what))

    def until_text(self, selector: str, text: str) -> None:
        """Wait until an element's text contains another."""
        self.until(
            lambda: any(text in each for each in self.texts(selector)), f"{text!r} in {selector}"
        )

    def slide(self, clock: str, place: int) -> None:
        """Move a clock to one of its moments; -1 is the last place, now or any time."""
        self.one(f"#{clock}-slider:not(:disabled)")
        self.browser.execute_script(
            "const slider = document.getElementById(`${arguments[0]}-slider`);"
            "slider.value = arguments[1] < 0 ? slider.max : arguments[1];"
            "slider.dispatchEvent(new Event('input', { bubbles: true }))",
            clock,
            place,
        )

    def type_time(self, clock: str, time: str) -> None:
        """Type an exact time into a clock's field."""
        field = self.one(f"#{clock} .exact input")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(time, Keys.ENTER)

    def press(self, keys: str) -> None:
        self.one("body").send_keys(keys)

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than its window."""
        return self.browser.execute_script(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
