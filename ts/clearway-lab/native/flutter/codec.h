// SPDX-License-Identifier: MIT OR Apache-2.0
// The engine's codecs. A method is a list: ["call", name, arguments], ["success", value] or ["error", code, message, details].
#ifndef CLEARWAY_LAB_FLUTTER_CODEC_H
#define CLEARWAY_LAB_FLUTTER_CODEC_H

#include "engine.h"
#include "frame.h"

enum codec_name { CODEC_STANDARD, CODEC_JSON, CODEC_STRING, CODEC_BINARY, CODEC_STANDARD_METHOD, CODEC_JSON_METHOD, CODEC_COUNT };
enum decode_as { AS_MESSAGE, AS_CALL, AS_REPLY };

/** Returns the engine's codec, which belongs to this program, or null for an unknown one. */
GObject *codec_of(uint8_t name);
bool is_method_codec(uint8_t name);
/** Encodes. The caller releases the bytes. Returns null, with a text in `problem`, if the codec refuses the value. */
GBytes *codec_encode(uint8_t name, FlValue *value, writer *problem);
/** Decodes. The caller releases the value. Returns null, with a text in `problem`, if the codec refuses the message. */
FlValue *codec_decode(uint8_t name, uint8_t as, GBytes *message, writer *problem);
/** Writes the text of an error: its domain, code and message. Releases the error, which may be null. */
void describe_error(writer *problem, GError *error);

#endif
