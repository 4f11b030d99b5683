// SPDX-License-Identifier: MIT OR Apache-2.0

/** Returns the sides on which a box has content to scroll to: "", "start", "end" or "both". Ignores fractions of a pixel. */
export function hiddenSides({ scrollLeft, scrollWidth, clientWidth }: Element): "" | "start" | "end" | "both" {
  const before = Math.abs(scrollLeft) >= 1;
  const after = scrollWidth - clientWidth - Math.abs(scrollLeft) >= 1;
  if (before) return after ? "both" : "start";
  return after ? "end" : "";
}

/**
 * Shows a hint while, and only while, a box can scroll sideways. The box then is a region that the keyboard can focus and scroll. The box's
 * `data-more` names the sides with hidden content, for the style sheet's shadows.
 */
export function hintAtScroll(box: HTMLElement, hint: HTMLElement, labelledBy: string): void {
  const update = () => {
    const scrolls = box.scrollWidth > box.clientWidth;
    box.dataset["more"] = hiddenSides(box);
    hint.hidden = !scrolls;
    if (scrolls) {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-labelledby", labelledBy);
    } else for (const name of ["tabindex", "role", "aria-labelledby"]) box.removeAttribute(name);
  };
  box.addEventListener("scroll", update, { passive: true });
  const sizes = new ResizeObserver(update);
  for (const element of [box, ...box.children]) sizes.observe(element);
  update();
}
