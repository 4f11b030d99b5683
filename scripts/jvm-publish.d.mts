// SPDX-License-Identifier: MIT OR Apache-2.0
export function published(found?: Map<number, string>): string[];
export function platform(): string;
export function publish(target: string | undefined, javadoc?: string): number;
