// SPDX-License-Identifier: MIT OR Apache-2.0
/** A question: one line of standard input. */
export interface Ask {
  id: string;
  codec: string;
  op: "encode" | "decode";
  value?: unknown;
  hex?: string;
  as?: string;
}

/** An answer: one line of standard output. */
export interface Answer {
  id: string | null;
  hex?: string;
  value?: unknown;
  error?: { code: string; offset: number };
}

export interface Case {
  ask: Ask;
  expect: object;
}

export function casesOf(vectors: readonly object[], corpus: readonly object[]): Case[];
export function judge(asked: Case, answer: Answer): string | undefined;
export function canonical(value: unknown): string;
