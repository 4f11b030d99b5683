// SPDX-License-Identifier: MIT OR Apache-2.0
// The worker that answers as the Dart program of the scenario `channel-flutter` does.
import { parent } from "#lab-host";
import { type AnswerRequest, answerAsDart } from "../flutter/worker-trips.js";

parent().listen((message) => answerAsDart(message as AnswerRequest));
