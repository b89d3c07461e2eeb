#pragma once

namespace pagerank::app {

/// From now on SIGINT, SIGTERM and SIGHUP end the program at once, whatever it is doing: unfinished
/// files are removed, and it exits with 128 and the signal's number, as shells say of who was
/// stopped. Signals that the program was started to ignore (nohup) stay ignored. A mapped file that
/// is cut off while it is in use (SIGBUS) ends it the same way, with the status of bad input. A
/// pipe that nobody reads any more and a file that may not become larger (SIGPIPE, SIGXFSZ) are
/// errors of writing. To be called before there are other threads, which would get the signals too.
void stop_cleanly_when_interrupted(const char* program);

}  // namespace pagerank::app
