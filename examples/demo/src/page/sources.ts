// SPDX-License-Identifier: MIT OR Apache-2.0
import { type WayId, ways } from "./ways.js";

/** Shows the source of each way, and its size. Fetches a source when the user opens it. */
export function listSources(list: HTMLElement): void {
  const sizes = fetchSizes();
  for (const { id, name, sources } of ways) {
    const details = list.appendChild(document.createElement("details"));
    details.dataset["way"] = id;
    const summary = details.appendChild(document.createElement("summary"));
    summary.innerHTML = '<span class="dot"></span>';
    const files = Object.assign(document.createElement("small"), { textContent: sources.join(", ") });
    summary.append(name, " ", files);
    void sizes.then((sizeOf) => {
      const size = sizeOf[id];
      if (size !== undefined) files.textContent += `: ${sizeText(size)}`;
    });
    details.addEventListener("toggle", () => showSources(details, sources), { once: true });
  }
}

interface Size {
  lines: number;
  bytes: number;
}

/** Fetches the sizes of the ways. Without an answer, the page shows none. */
async function fetchSizes(): Promise<Partial<Record<WayId, Size>>> {
  const response = await fetch("sizes.json");
  return response.ok ? ((await response.json()) as Record<WayId, Size>) : {};
}

const sizeText = ({ lines, bytes }: Size) => `${lines} lines, loads ${(bytes / 1000).toFixed(1)} KB`;

async function showSources(details: HTMLElement, sources: readonly string[]): Promise<void> {
  for (const source of sources) {
    const code = document.createElement("code");
    const block = details.appendChild(document.createElement("pre"));
    block.tabIndex = 0;
    block.setAttribute("aria-label", source);
    block.appendChild(code);
    const response = await fetch(`source/${source}`);
    code.textContent = response.ok
      ? (await response.text()).replace(/^.*SPDX.*\n/, "")
      : `${source} could not be fetched`;
  }
}
