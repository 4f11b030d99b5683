// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Answer, Ask, Case } from "./cases.mjs";

export const cases: Case[];
export function ask(command: readonly string[], questions: readonly Ask[]): Promise<Answer[]>;
export function check(language: string): Promise<string[]>;
export function checkFlutter(): Promise<{ problems: string[]; leftOut: Map<string, number> }>;
