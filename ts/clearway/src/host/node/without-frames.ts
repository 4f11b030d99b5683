// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Runs code that makes an error for the app. The error gets no frames: they would all be of the library, and Node prints the source line of
 * the first one, which is minified, when nothing handles the error.
 */
export function withoutFrames(act: () => void): void {
  const { stackTraceLimit } = Error;
  restore(0);
  try {
    act();
  } finally {
    restore(stackTraceLimit);
  }
}

// Does nothing if the app has frozen `Error`.
function restore(stackTraceLimit: number): void {
  try {
    Error.stackTraceLimit = stackTraceLimit;
  } catch {
    // The errors then have the frames that the app wants.
  }
}
