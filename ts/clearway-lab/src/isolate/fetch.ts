// SPDX-License-Identifier: MIT OR Apache-2.0
// Fetches a picture and makes its thumbnail, or fetches a JSON body of students and parses it: both steps on the main thread, both in a worker,
// or the main thread fetches and a worker does the rest. The result ends on the main thread.
import { openWorker } from "#lab-host";
import { type Fixture, type Mechanism, numberParam } from "../protocol/measured.js";
import type { BareRequest } from "../work/isolate-bare.js";
import { fetchImage, greyThumbnail, type Thumbnail } from "./image.js";
import { metered } from "./metered.js";
import { fetchStudents, fetchText, type Student } from "./student.js";
import { type MakeStudents, readEnds } from "./students.js";

/** Fetches the picture at `url`. Resolves to its thumbnail, on the main thread. */
type MakeThumbnail = (url: string) => Promise<Thumbnail>;

export function imageMechanism(
  open: (fixture: Fixture) => Promise<{ make: MakeThumbnail; close(): Promise<void> }>,
): Mechanism {
  return async ({ fixture }) => {
    const { make, close } = await open(fixture);
    const url = fixture.httpUrl + "/image";
    try {
      await make(url);
      return await metered(async () => {
        const { width, height, pixels, checksum } = await make(url);
        return { width, height, bytes: pixels.length, checksum };
      });
    } finally {
      await close();
    }
  };
}

const imageOnMain = imageMechanism(async () => ({
  make: async (url) => greyThumbnail(await fetchImage(url)),
  close: async () => {},
}));

/** Makes a mechanism with a bare worker. `delivery`: the pixels are copied or moved to the worker, or the worker fetches them. */
function imageInWorker(delivery: "copy" | "move" | "fetch"): Mechanism {
  return imageMechanism(async () => {
    const worker = openWorker("isolate-bare");
    let onThumbnail: (thumbnail: Thumbnail) => void = () => {};
    const post = (request: BareRequest, transfer: Transferable[] = []) => worker.post(request, transfer);
    worker.listen((message) => onThumbnail(message as Thumbnail));
    return {
      make: async (url) => {
        const rgba = delivery === "fetch" ? undefined : await fetchImage(url);
        return new Promise<Thumbnail>((resolve) => {
          onThumbnail = resolve;
          if (rgba === undefined) post({ op: "image", url });
          else post({ op: "image", rgba }, delivery === "move" ? [rgba.buffer as ArrayBuffer] : []);
        });
      },
      close: () => worker.end(),
    };
  });
}

export const images: Record<string, Mechanism> = {
  "main-thread": imageOnMain,
  "worker-copy": imageInWorker("copy"),
  "worker-move": imageInWorker("move"),
  "worker-fetch": imageInWorker("fetch"),
};

/** The fixture's address of a JSON body with `rows` students. */
export const studentsUrl = (httpUrl: string, rows: number): string => `${httpUrl}/students?rows=${rows}`;

/** Rows of the warm-up, which also starts the worker. */
const WARM_UP_ROWS = 2000;

type FetchRows = (url: string) => ReturnType<MakeStudents>;

export function jsonMechanism(open: () => Promise<{ read: FetchRows; close(): Promise<void> }>): Mechanism {
  return async ({ params, fixture }) => {
    const rows = numberParam(params, "rows");
    const { read, close } = await open();
    try {
      const url = studentsUrl(fixture.httpUrl, rows);
      // The server makes a body when it is first asked for it.
      await fetchText(url);
      await read(studentsUrl(fixture.httpUrl, Math.min(rows, WARM_UP_ROWS)));
      return await metered(async () => readEnds(await read(url)));
    } finally {
      await close();
    }
  };
}

const jsonOnMain = jsonMechanism(async () => ({ read: fetchStudents, close: async () => {} }));

/** Makes a mechanism with a bare worker that gets the text, or the address. It returns the students by structured clone. */
function jsonInWorker(fetches: boolean): Mechanism {
  return jsonMechanism(async () => {
    const worker = openWorker("isolate-bare");
    let onStudents: (students: Student[]) => void = () => {};
    worker.listen((message) => onStudents(message as Student[]));
    return {
      read: async (url) => {
        const message: BareRequest = { op: "json", ...(fetches ? { url } : { text: await fetchText(url) }) };
        return new Promise<Student[]>((resolve) => {
          onStudents = resolve;
          worker.post(message);
        });
      },
      close: () => worker.end(),
    };
  });
}

export const jsonBodies: Record<string, Mechanism> = {
  "main-thread": jsonOnMain,
  "worker-text": jsonInWorker(false),
  "worker-fetch": jsonInWorker(true),
};
