// SPDX-License-Identifier: MIT OR Apache-2.0
// 64 KB chunks from a worker.
import { median, spread } from "../../statistics/rounds.ts";
import { learn, subjectOf } from "./subjects.mjs";

const bytes = 65_536;

export async function stream({ host, collect, settings }) {
  await learn(host);
  const figures = await host.probe("stream", { rounds: settings.rounds, chunks: 2000, bytes });
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
