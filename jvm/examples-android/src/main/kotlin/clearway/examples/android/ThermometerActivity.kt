// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.examples.android

import android.app.Activity
import android.net.LocalSocket
import android.net.LocalSocketAddress
import android.os.Bundle
import android.os.Handler
import android.os.Looper
import android.widget.TextView
import clearway.channel.Endpoint
import clearway.channel.coroutines.asFlow
import clearway.channel.coroutines.awaitConnect
import clearway.channel.transport.StreamTransport
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext

/** Shows the temperature that another process of the device serves over a local socket. */
public class ThermometerActivity : Activity() {
    private val screen = CoroutineScope(SupervisorJob() + MainThread)
    private var reading: Job? = null
    private lateinit var text: TextView

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        text = TextView(this)
        setContentView(text)
    }

    // #region android
    override fun onStart() {
        super.onStart()
        reading =
            screen.launch {
                val transport = withContext(Dispatchers.IO) { connect() } // blocks, so not on the main thread
                Endpoint.awaitConnect(transport).use { sensor ->
                    // Suspends the main thread's coroutine between events. The sensor sends no more than the screen can
                    // show.
                    sensor.events("lab/thermometer/changed").asFlow<Double>().collect { text.text = "$it °C" }
                }
            }
    }

    override fun onStop() {
        reading?.cancel() // ends the stream in the other process, too, and closes the socket
        super.onStop()
    }

    private fun connect(): StreamTransport {
        val socket = LocalSocket()
        socket.connect(LocalSocketAddress("thermometer"))
        return StreamTransport.of(socket.inputStream, socket.outputStream)
    }

    // #endregion android

    override fun onDestroy() {
        screen.cancel()
        super.onDestroy()
    }

    /** Android's main thread. An app with the library `kotlinx-coroutines-android` has it as `Dispatchers.Main`. */
    private object MainThread : CoroutineDispatcher() {
        private val handler = Handler(Looper.getMainLooper())

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            handler.post(block)
        }
    }
}
