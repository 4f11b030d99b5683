// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel.process

import clearway.lab.channel.Row

/**
 * The main program of [EchoChild]. Runs the peer of a mechanism for a row. Ends when the parent closes the standard
 * input.
 */
public fun main(arguments: Array<String>) {
    val (mechanism, row) = arguments.first() to arguments.drop(1)
    Processes.serve(mechanism, Row.of(row))
}
