// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.Endpoint
import clearway.channel.EndpointOptions
import clearway.channel.interop.Node
import clearway.channel.interop.TypeScriptContract
import java.net.URI
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.BeforeAll

abstract class WebSocketInterop : TypeScriptContract() {
    override lateinit var endpoint: Endpoint
    protected lateinit var node: Process

    abstract fun connect(): Endpoint

    @BeforeAll
    fun start() {
        assumeTrue(Node.isBuilt, "TypeScript is not built: node scripts/build.mjs")
        endpoint = connect()
    }

    @AfterAll
    fun stop() {
        if (!Node.isBuilt) return
        endpoint.closeAsync().get(60, TimeUnit.SECONDS)
        node.destroy()
        node.waitFor()
    }
}

/** Tests TypeScript's server with the JVM's client. */
class TypeScriptServerTest : WebSocketInterop() {
    override fun connect(): Endpoint {
        node = Node.start("websocket.mjs", "serve")
        val reader = node.inputStream.bufferedReader()
        val transport = WebSocketTransport.connect(URI(reader.readLine()), reader.readLine())
        return Endpoint.connect(transport, EndpointOptions().exposeErrors(true)).get(60, TimeUnit.SECONDS)
    }
}

/** Tests the JVM's server with TypeScript's client. */
class TypeScriptClientTest : WebSocketInterop() {
    private lateinit var server: WebSocketServer

    override fun connect(): Endpoint {
        val met = CompletableFuture<Endpoint>()
        server =
            WebSocketServer.start(WebSocketServerOptions().path("/jvm")) { transport ->
                Endpoint.connect(transport, EndpointOptions().exposeErrors(true)).thenAccept { met.complete(it) }
            }
        node = Node.start("websocket.mjs", "connect", server.uri.toString(), server.token.orEmpty())
        return met.get(60, TimeUnit.SECONDS)
    }

    @AfterAll
    fun closeServer() {
        if (Node.isBuilt) server.close()
    }
}
