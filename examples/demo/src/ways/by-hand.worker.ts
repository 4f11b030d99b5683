// SPDX-License-Identifier: MIT OR Apache-2.0
import { fetchAndRestore } from "../work/photo.js";
import { buildRows } from "../work/students.js";
import { uploadInChunks } from "../work/upload.js";
import type { Answer, Question } from "./by-hand.js";

const post = (answer: Answer) => self.postMessage(answer);

self.addEventListener("message", async ({ data }: MessageEvent<Question>) => {
  const { id } = data;
  try {
    post({ id, kind: "result", value: await answer(data) });
  } catch (error) {
    post({ id, kind: "error", message: error instanceof Error ? error.message : String(error) });
  }
});

function answer(question: Question) {
  switch (question.job) {
    case "ready":
      return undefined;
    case "students":
      return buildRows(question.count);
    case "photo":
      return fetchAndRestore(question.url);
    case "upload":
      return uploadInChunks(question.file, question.url, (progress) =>
        post({ id: question.id, kind: "progress", progress }),
      );
  }
}
