// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel.process

import clearway.lab.channel.Row

/** The program of [EchoChild]: the peer of a way, for a row. Ends when its parent closes its standard input. */
public fun main(arguments: Array<String>) {
    val (way, row) = arguments.first() to arguments.drop(1)
    Processes.serve(way, Row.of(row))
}
