// The copy buttons. Without this file the pages are complete: the text can be selected, and the buttons stay hidden.

for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  const status = button.parentElement.querySelector("[role=status]");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      status.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      status.textContent = "Selected";
    }
    setTimeout(() => {
      status.textContent = "";
    }, 4_000);
  });
}
