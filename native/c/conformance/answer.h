// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CLEARWAY_C_ANSWER_H
#define CLEARWAY_C_ANSWER_H

#include "notation.h"

/** Appends the answer to one case. The case and the answer are JSON in one line, without the line's end. */
void answer_line(notation_text *out, const uint8_t *line, size_t size);

#endif
