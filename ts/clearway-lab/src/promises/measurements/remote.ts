// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures remote pools over NATS: beside bare requests, their durable calls a second, and whether they grow with the cores.
import { median, ratio, spread } from "../../statistics/rounds.js";
import type { MeasurementContext } from "../run.js";

type OrUnavailable<T> = T | { unavailable: string };

type Requests = Record<"nats-request" | "clearway", { p50Us: number[]; samplesUs: number[] }>;

interface Computing {
  cores: number;
  one: number[];
  each: number[];
}

const BARE = {
  name: "nats-request",
  role: "reference",
  settings: "request(), one queue group, one worker process",
} as const;
const REQUEST = {
  name: "clearway",
  role: "clearway",
  settings: "mode request, one worker process of one thread",
} as const;
const DURABLE = {
  name: "clearway",
  role: "clearway",
  settings: "mode durable, one worker process of one thread, files",
} as const;

export async function remote({ host, collector, amounts, seed }: MeasurementContext): Promise<void> {
  const rounds = amounts["rounds"] as number;
  const probe = <T>(part: string) => host.probe<OrUnavailable<T>>("remote", { part, rounds, seed });
  const requests = await probe<Requests>("requests");
  if ("unavailable" in requests) {
    for (const id of ["remote-over-bare", "remote-durable", "remote-linear"])
      collector.addMissingPromise(id, host.name, { mechanism: "clearway" }, requests.unavailable);
    return;
  }
  for (const mechanism of [BARE, REQUEST])
    collector.addMeasurement(
      "remote",
      host.name,
      mechanism,
      { inFlight: 1, mode: "request" },
      {
        latency: { unit: "us", samples: requests[mechanism.name].samplesUs },
      },
    );
  const us = (name: keyof Requests) => median(requests[name].p50Us).toFixed(0);
  collector.addPromise(
    "remote-over-bare",
    host.name,
    { mechanism: "clearway", over: "nats-request", detail: `${us("clearway")} over ${us("nats-request")} us` },
    ratio(requests.clearway.p50Us, requests["nats-request"].p50Us),
  );

  const rates = (await probe<number[]>("durable")) as number[];
  collector.addMeasurement(
    "remote",
    host.name,
    DURABLE,
    { inFlight: 1000, mode: "durable" },
    {
      rate: { unit: "events/s", value: median(rates) },
    },
  );
  collector.addPromise("remote-durable", host.name, { mechanism: "clearway" }, spread(rates));

  const { cores, one, each } = (await probe<Computing>("computing")) as Computing;
  const perCore = ratio(each, one);
  collector.addPromise(
    "remote-linear",
    host.name,
    {
      mechanism: "clearway",
      detail: `${median(each).toFixed(0)} over ${median(one).toFixed(0)} calls/s, ${cores} cores`,
    },
    { ...perCore, median: perCore.median / cores, p25: perCore.p25 / cores, p75: perCore.p75 / cores },
  );
}
