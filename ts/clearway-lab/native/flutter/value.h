// SPDX-License-Identifier: MIT OR Apache-2.0
// The values of a frame. A value is a tag and a body:
//
//   0 null   1 false   2 true   3 int64   4 float64   5 text: u32 bytes, UTF-8
//   6 uint8 list   7 int32 list   8 int64 list   9 float32 list   10 float64 list: u32 count, elements
//   11 list: u32 count, values   12 map: u32 count, then key and value alternately
#ifndef CLEARWAY_LAB_FLUTTER_VALUE_H
#define CLEARWAY_LAB_FLUTTER_VALUE_H

#include "engine.h"
#include "frame.h"

/** Makes the engine's value of a frame's value. The caller releases it. Returns null, with a text in `problem`, if it cannot. */
FlValue *read_value(reader *from, const char **problem);
/** Writes the engine's value. Returns false if it is of a type that this format does not have. */
bool write_value(writer *to, FlValue *value);

#endif
