// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads of a plugin: its pool, and a thread for each named queue. A queue with one thread runs its jobs in order.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::sync::lock;

pub(crate) type Job = Box<dyn FnOnce(Ran) + Send>;

/// Why a job was called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ran {
    /// Its turn came, after it waited that long.
    After(Duration),
    /// The queue was closed; the job will not run.
    Not,
}

pub(crate) struct Queue {
    name: String,
    threads_max: usize,
    jobs_max: usize,
    state: Mutex<State>,
    ready: Condvar,
    idle: Condvar,
}

struct State {
    jobs: VecDeque<(Instant, Job)>,
    threads: usize,
    sleeping: usize,
    closed: bool,
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread belongs to a queue.
pub(crate) fn on_queue_thread() -> bool {
    INSIDE.with(Cell::get)
}

impl Queue {
    /// Makes a queue without threads. Threads start when there are jobs.
    pub(crate) fn new(name: String, threads_max: usize, jobs_max: usize) -> Arc<Queue> {
        let state = State { jobs: VecDeque::new(), threads: 0, sleeping: 0, closed: false };
        // The system's thread names end at a zero byte, and the standard library panics at one.
        let name = name.replace('\0', "?");
        Arc::new(Queue {
            name,
            threads_max,
            jobs_max,
            state: Mutex::new(state),
            ready: Condvar::new(),
            idle: Condvar::new(),
        })
    }

    /// Queues a job, or returns it when the queue is closed or full, or no thread could be started.
    pub(crate) fn push(self: &Arc<Queue>, job: Job) -> Result<(), (Refused, Job)> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err((Refused::Closed, job));
        }
        if state.jobs.len() >= self.jobs_max {
            return Err((Refused::Full, job));
        }
        if state.sleeping <= state.jobs.len() && state.threads < self.threads_max {
            let queue = self.clone();
            let started = thread::Builder::new().name(self.name.clone()).spawn(move || queue.run());
            match started {
                Ok(_) => state.threads += 1,
                Err(_) if state.threads == 0 => return Err((Refused::NoThread, job)),
                Err(_) => {}
            }
        }
        state.jobs.push_back((Instant::now(), job));
        drop(state);
        self.ready.notify_one();
        Ok(())
    }

    fn run(&self) {
        INSIDE.with(|inside| inside.set(true));
        let mut state = lock(&self.state);
        loop {
            if let Some((at, job)) = state.jobs.pop_front() {
                drop(state);
                job(Ran::After(at.elapsed()));
                state = lock(&self.state);
            } else if state.closed {
                break;
            } else {
                state.sleeping += 1;
                state = self.ready.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
                state.sleeping -= 1;
            }
        }
        state.threads -= 1;
        self.idle.notify_all();
    }

    /// Closes the queue. Queued jobs still run until `until`; the remaining ones are then called with `Ran::Not`. Returns true
    /// if no thread is left.
    pub(crate) fn close(&self, until: Instant) -> bool {
        let mut state = lock(&self.state);
        state.closed = true;
        self.ready.notify_all();
        while state.threads > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.idle.wait_timeout(state, left);
            state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        let left = std::mem::take(&mut state.jobs);
        let ended = state.threads == 0;
        drop(state);
        for (_, job) in left {
            job(Ran::Not);
        }
        ended
    }
}

/// Why a job was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    Closed,
    Full,
    NoThread,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn one_thread_runs_jobs_in_their_order() {
        let queue = Queue::new("test".into(), 1, 1000);
        let (told, heard) = channel();
        for at in 0..100 {
            let told = told.clone();
            queue.push(Box::new(move |_| told.send(at).unwrap())).map_err(|(why, _)| why).unwrap();
        }
        assert!(queue.close(Instant::now() + LONG));
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn several_threads_run_jobs_that_wait_for_each_other() {
        let queue = Queue::new("test".into(), 2, 1000);
        let (one, other) = (channel(), channel());
        let (to_other, from_one) = (one.0, other.1);
        queue
            .push(Box::new(move |_| {
                to_other.send(()).unwrap();
                from_one.recv().unwrap();
            }))
            .map_err(|(why, _)| why)
            .unwrap();
        let (to_one, from_other) = (other.0, one.1);
        queue
            .push(Box::new(move |_| {
                from_other.recv().unwrap();
                to_one.send(()).unwrap();
            }))
            .map_err(|(why, _)| why)
            .unwrap();
        assert!(queue.close(Instant::now() + LONG));
    }

    #[test]
    fn closing_tells_what_will_not_run_and_leaves_a_job_that_does_not_end() {
        let queue = Queue::new("test".into(), 1, 1000);
        let (begun, begins) = channel();
        let (end, ends) = channel::<()>();
        let job = move |_| {
            begun.send(()).unwrap();
            ends.recv().unwrap_err();
        };
        queue.push(Box::new(job)).map_err(|(why, _)| why).unwrap();
        begins.recv().unwrap();
        let (told, heard) = channel();
        queue.push(Box::new(move |ran| told.send(ran).unwrap())).map_err(|(why, _)| why).unwrap();
        assert!(!queue.close(Instant::now()));
        assert_eq!(heard.recv(), Ok(Ran::Not));
        assert!(matches!(queue.push(Box::new(|_| {})), Err((Refused::Closed, _))));
        drop(end);
        assert!(queue.close(Instant::now() + LONG));
    }

    #[test]
    fn a_queue_of_any_name_runs_jobs() {
        for name in ["", "\0", "a\0b", "a name that is longer than a thread's may be \0", "\u{1F980}"] {
            let queue = Queue::new(name.into(), 1, 1000);
            let (told, heard) = channel();
            queue.push(Box::new(move |ran| told.send(ran).unwrap())).map_err(|(why, _)| why).unwrap();
            assert!(matches!(heard.recv(), Ok(Ran::After(_))), "{name:?}");
            assert!(queue.close(Instant::now() + LONG));
        }
    }

    #[test]
    fn a_full_queue_gives_the_job_back() {
        let queue = Queue::new("test".into(), 0, 1);
        lock(&queue.state).threads = 1; // no thread that would take the job
        queue.push(Box::new(|_| {})).map_err(|(why, _)| why).unwrap();
        assert!(matches!(queue.push(Box::new(|_| {})), Err((Refused::Full, _))));
    }
}
