// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a stream of 64 KB chunks from a worker.
import { median, spread } from "../../statistics/rounds.js";
import type { MeasurementContext } from "../run.js";
import { loadMechanisms, mechanismOf } from "./mechanisms.js";

interface StreamFigures {
  chunksPerSecond: number[];
  copiedBytesPerChunk: number;
}

const bytes = 65_536;

export async function stream({ host, collector, amounts }: MeasurementContext): Promise<void> {
  await loadMechanisms(host);
  const figures = await host.probe<Record<string, StreamFigures>>("stream", {
    rounds: amounts["rounds"],
    chunks: 2000,
    bytes,
  });
  for (const [name, { chunksPerSecond, copiedBytesPerChunk }] of Object.entries(figures)) {
    const perSecond = median(chunksPerSecond);
    collector.addMeasurement(
      "stream",
      host.name,
      mechanismOf(host.name, name),
      { chunkBytes: bytes },
      {
        rate: { unit: "MB/s", value: (perSecond * bytes) / 1e6 },
        copiedPerChunk: { unit: "bytes", value: copiedBytesPerChunk },
      },
    );
    const detail = `${((perSecond * bytes) / 2 ** 30).toFixed(1)} GiB/s`;
    collector.addPromise("stream-copied", host.name, { mechanism: name, detail }, spread([copiedBytesPerChunk]));
  }
}
