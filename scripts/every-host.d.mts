// SPDX-License-Identifier: MIT OR Apache-2.0
export const differing: readonly string[];
export function hostTests(folder?: string): {
  everyNode: string[];
  byPort: string[];
  inProcesses: string[];
  everyEngine: string[];
};
