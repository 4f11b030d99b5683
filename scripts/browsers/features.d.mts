// SPDX-License-Identifier: MIT OR Apache-2.0
export interface Feature {
  readonly name: string;
  readonly engines: Readonly<Record<"chromium" | "firefox" | "webkit", boolean>>;
  readonly has: () => boolean | Promise<boolean>;
  readonly without: string;
}
export const features: readonly Feature[];
export function featuresTable(): string;
