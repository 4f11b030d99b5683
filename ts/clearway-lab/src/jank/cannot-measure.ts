// SPDX-License-Identifier: MIT OR Apache-2.0
/** Measuring is not possible here. The message says why, and what to do. */
export class CannotMeasure extends Error {}
