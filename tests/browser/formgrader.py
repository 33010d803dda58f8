"""What an instructor does in nbgrader's formgrader, by its buttons; every step waits for what it brings about."""

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support import expected_conditions as seen
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.jupyter import Server

#: The server grades in the request that a button sends.
PATIENCE = 90
DIALOG = (By.CSS_SELECTOR, ".modal.in")


class Formgrader:
    def __init__(self, browser: WebDriver, server: Server) -> None:
        self.browser, self.server = browser, server
        self.wait = WebDriverWait(browser, PATIENCE, 0.2, (StaleElementReferenceException,))
        browser.get(server.page("formgrader"))

    def open(self, path: str) -> None:
        self.browser.get(f"{self.server.url}/formgrader/{path}")

    def row(self, text: str) -> WebElement:
        """The table's row with this link or word in it."""
        place = f"//tbody//tr[.//*[normalize-space(text())='{text}']]"
        return self.wait.until(seen.visibility_of_element_located((By.XPATH, place)), f"no row {text!r}")

    def press(self, text: str, button: str) -> None:
        """A button in a row, by its column's class: the window that opens says that it went well, and is closed."""
        self.wait.until(lambda _: self.row(text).find_elements(By.CSS_SELECTOR, f".{button} a"), f"no {button}")
        self.row(text).find_element(By.CSS_SELECTOR, f".{button} a").click()
        window = self.wait.until(seen.visibility_of_element_located(DIALOG), f"{button} opened no window")
        self.wait.until(lambda _: window.find_element(By.CSS_SELECTOR, ".modal-title").text)
        said = window.text
        window.find_element(By.CSS_SELECTOR, ".modal-footer .close").click()
        self.wait.until(seen.invisibility_of_element_located(DIALOG), "the window stays open")
        assert "Success" in said, said

    def field(self, identifier: str) -> WebElement:
        return self.wait.until(seen.visibility_of_element_located((By.ID, identifier)), f"no field {identifier}")

    def write(self, identifier: str, text: str) -> None:
        """Into a score or a comment; it is stored when the field is left."""
        field, mark = self.field(identifier), self._stored_mark(identifier)
        field.clear()
        field.send_keys(text, Keys.TAB)
        self.wait.until(lambda _: "glyphicon-ok" in mark.get_attribute("class"), f"{identifier} was not stored")

    def _stored_mark(self, identifier: str) -> WebElement:
        """The sign that a field's value is stored, which is taken away before something new is."""
        icon = "comment-saved" if identifier.endswith("-comment") else "score-saved"
        cell = self.field(identifier).find_element(By.XPATH, "ancestor::div[contains(@class, 'nbgrader_cell')]")
        mark = cell.find_element(By.CLASS_NAME, icon)
        self.browser.execute_script("arguments[0].classList.remove('glyphicon-ok')", mark)
        return mark

    def show(self, identifier: str) -> None:
        """Bring a field to the middle of the window, once the page has done its own scrolling."""
        self.wait.until(lambda _: self.browser.execute_script("return $(':animated').length === 0"))
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", self.field(identifier))
