// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect } from "clearway/channel";
import { childTransport, parentTransport } from "clearway/channel/stdio";
import { serve } from "./serve.mjs";

serve(await connect(parentTransport()), (child) => connect(childTransport(child)));
