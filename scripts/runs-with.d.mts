// SPDX-License-Identifier: MIT OR Apache-2.0
/** Returns the folder for the tools of this lock file. It may not exist yet. */
export function toolsFolder(): string;
