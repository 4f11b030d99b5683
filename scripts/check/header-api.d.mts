// SPDX-License-Identifier: MIT OR Apache-2.0
/** The types of header-api.mjs, for tests in TypeScript. */
export interface Field {
  name: string;
  text: string;
  offset: number;
}

export interface HeaderApi {
  constants: Record<string, number>;
  types: Record<string, string>;
  functions: Record<string, string>;
  structs: Record<string, { size: number; fields: Field[] }>;
}

export function read(text: string): HeaderApi;
export function parsed(text: string): HeaderApi;
export function shown(api: HeaderApi): string;
export function breaks(before: HeaderApi, after: HeaderApi): string[];
