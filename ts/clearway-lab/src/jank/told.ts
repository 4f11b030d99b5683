// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks what a measured page or script sends. Its code shares a process with the meter and may send anything.
import type { Stall, StallReport } from "clearway/meter";
import type { FrameScript } from "./evidence.js";

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const numbers = (value: Fields, ...names: string[]): boolean => names.every((name) => Number.isFinite(value[name]));
const texts = (value: Fields, ...names: string[]): boolean => names.every((name) => typeof value[name] === "string");
const lists = (value: Fields, ...names: string[]): boolean => names.every((name) => Array.isArray(value[name]));

export function isStall(value: unknown): value is Stall {
  return (
    isObject(value) &&
    numbers(value, "startMs", "lengthMs", "errorMs", "machineMs", "gcMs") &&
    texts(value, "cause", "because") &&
    lists(value, "scripts", "stacks", "marks") &&
    (value["stacks"] as unknown[]).every(
      (stack) =>
        isObject(stack) &&
        lists(stack, "frames") &&
        (stack["frames"] as unknown[]).every((frame) => typeof frame === "string"),
    )
  );
}

export function isReport(value: unknown): value is StallReport {
  return (
    isObject(value) &&
    value["kind"] === "clearway-stalls" &&
    value["version"] === 1 &&
    numbers(value, "durationMs", "lagMeanMs") &&
    lists(value, "stalls", "sources") &&
    (value["stalls"] as unknown[]).every(isStall) &&
    (value["sources"] as unknown[]).every((source) => isObject(source) && texts(source, "name")) &&
    isObject(value["frames"]) &&
    numbers(value["frames"], "hz", "dropped")
  );
}

export function isFrameScript(value: unknown): value is FrameScript {
  return (
    isObject(value) &&
    numbers(value, "startMs", "endMs", "charPosition", "layoutMs", "pauseMs") &&
    texts(value, "url", "functionName", "invoker")
  );
}

/** Settles like `promise`, or with `undefined` after `msMax`, or if the promise rejects. The timer keeps no process alive. */
export async function bounded<T>(promise: Promise<T>, msMax: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), msMax);
  });
  try {
    return await Promise.race([promise.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
