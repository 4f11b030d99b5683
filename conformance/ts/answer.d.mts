// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Answer, Ask } from "../cases.mjs";

export function answer(asked: Ask): Answer;
export function answerLine(line: string): string;
