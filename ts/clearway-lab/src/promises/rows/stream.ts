// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a stream of 64 KB chunks from a worker.
import { median, spread } from "../../statistics/rounds.js";
import type { RowContext } from "../run.js";
import { learn, subjectOf } from "./subjects.js";

interface Streamed {
  chunksPerSecond: number[];
  copiedBytesPerChunk: number;
}

const bytes = 65_536;

export async function stream({ host, collect, settings }: RowContext): Promise<void> {
  await learn(host);
  const figures = await host.probe<Record<string, Streamed>>("stream", {
    rounds: settings["rounds"],
    chunks: 2000,
    bytes,
  });
  for (const [name, { chunksPerSecond, copiedBytesPerChunk }] of Object.entries(figures)) {
    const perSecond = median(chunksPerSecond);
    collect.measured(
      "stream",
      host.name,
      subjectOf(host.name, name),
      { chunkBytes: bytes },
      {
        rate: { unit: "MB/s", value: (perSecond * bytes) / 1e6 },
        copiedPerChunk: { unit: "bytes", value: copiedBytesPerChunk },
      },
    );
    const detail = `${((perSecond * bytes) / 2 ** 30).toFixed(1)} GiB/s`;
    collect.promise("stream-copied", host.name, { of: name, detail }, spread([copiedBytesPerChunk]));
  }
}
