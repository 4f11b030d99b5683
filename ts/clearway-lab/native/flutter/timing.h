// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CLEARWAY_LAB_FLUTTER_TIMING_H
#define CLEARWAY_LAB_FLUTTER_TIMING_H

#include "engine.h"
#include "frame.h"

/** Returns the monotonic clock in nanoseconds. */
int64_t now_ns(void);

/**
 * Times a codec with one value: writes the median of `batches` for encoding and for decoding (float64, nanoseconds a call), and the
 * message (u32 bytes, bytes). Each call releases what it made. Returns false, with a text in `out`, if the codec refuses the value.
 */
bool time_codec(uint8_t codec, FlValue *value, uint32_t batches, writer *out);

#endif
