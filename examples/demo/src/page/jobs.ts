// SPDX-License-Identifier: MIT OR Apache-2.0

import type { Way } from "../ways/way.js";
import type { Picture } from "../work/photo.js";
import type { Timed } from "../work/steps.js";
import type { Ran } from "./result.js";

export type JobId = "students" | "photo" | "upload";

export interface Job {
  id: JobId;
  title: string;
  what: string;
  /** Builds the elements that show the job's outcome. The page calls it once. */
  show(outcome: HTMLElement): JobOnPage;
}

export interface JobOnPage {
  /** Prepares a run. Its time does not count. */
  prepare(): Promise<void>;
  /** Does the job and shows its outcome on the page, which proves that the outcome is usable. Both are part of the measurement. */
  run(way: Way): Promise<Ran>;
}

const studentCount = 1_000_000;
const number = new Intl.NumberFormat("en");

const students: Job = {
  id: "students",
  title: "A million rows",
  what: "Make 1,000,000 students {rollNum, name} and hand them to the page.",
  show(outcome) {
    const text = outcome.appendChild(document.createElement("p"));
    text.className = "rows";
    text.textContent = "No rows yet.";
    return {
      async prepare() {
        text.textContent = "Making rows …";
      },
      async run(way) {
        return shown(await way.students(studentCount), (roster) => {
          const [first, last] = [roster.at(0), roster.at(-1)];
          text.textContent = `${number.format(roster.length)} rows, from ${first?.rollNum} ${first?.name} to ${last?.rollNum} ${last?.name}`;
        });
      },
    };
  },
};

const photo: Job = {
  id: "photo",
  title: "A 30 MB photo",
  what: "Fetch 3200 × 2400 raw pixels, lift the haze, sharpen, hand them over.",
  show(outcome) {
    const text = outcome.appendChild(document.createElement("p"));
    const canvas = outcome.appendChild(document.createElement("canvas"));
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Preview: mountains under a low sun, the haze lifted");
    canvas.hidden = true;
    text.textContent = "No photo yet.";
    return {
      async prepare() {
        canvas.hidden = true;
        text.hidden = false;
        text.textContent = "Fetching the photo …";
      },
      async run(way) {
        return shown(await way.photo("/photo"), (restored) => {
          if (restored.pixels.length !== restored.width * restored.height * 4) throw new Error("pixels are missing");
          paint(canvas, restored.preview);
          text.hidden = true;
          canvas.hidden = false;
        });
      },
    };
  },
};

function paint(canvas: HTMLCanvasElement, { pixels, width, height }: Picture): void {
  [canvas.width, canvas.height] = [width, height];
  canvas.getContext("2d")?.putImageData(new ImageData(pixels, width, height), 0, 0);
}

const upload: Job = {
  id: "upload",
  title: "An upload",
  what: "Send 192 MB in chunks of 32 MB, each with its CRC-32, and show how far it got.",
  show(outcome) {
    const bar = outcome.appendChild(document.createElement("progress"));
    const text = outcome.appendChild(document.createElement("p"));
    bar.max = 1;
    bar.value = 0;
    bar.setAttribute("aria-label", "Upload");
    text.textContent = "Nothing sent yet.";
    let file: Blob | undefined;
    return {
      async prepare() {
        bar.value = 0;
        text.textContent = "Getting a file to send …";
        file ??= await (await fetch("/file")).blob();
        text.textContent = "Sending …";
      },
      async run(way) {
        const sent = await way.upload(file!, "/upload", ({ sentBytes, totalBytes }) => {
          bar.value = sentBytes / totalBytes;
          text.textContent = `${megabytes(sentBytes)} of ${megabytes(totalBytes)} sent`;
        });
        return shown(sent, ({ receivedBytes, chunks }) => {
          text.textContent = `${megabytes(receivedBytes)} arrived in ${chunks} chunks, each checked`;
        });
      },
    };
  },
};

/** Shows a result on the page and measures how long that takes. */
function shown<Value>({ value, steps }: Timed<Value>, show: (value: Value) => void): Ran {
  const startMs = performance.now();
  show(value);
  return { steps, showMs: performance.now() - startMs };
}

const megabytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`;

export const jobs: readonly Job[] = [students, photo, upload];
