// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues of jobs, and the threads that run the jobs. A plugin has a pool with several threads. Each of its named queues has one thread,
//! and thus runs its jobs in order.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use clearway_sys::{CLEARWAY_CLOSED, CLEARWAY_FULL, CLEARWAY_OUT_OF_MEMORY, Status};

use crate::sync::lock;

pub(crate) type Job = Box<dyn FnOnce(Ran) + Send>;

/// Whether a job must do its work when the queue calls it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ran {
    /// The job must run now. The value is the time that the job waited.
    After(Duration),
    /// The queue was closed. The job must not do its work.
    Cancelled,
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
    /// The number of jobs that run.
    running: usize,
    closed: bool,
}

thread_local! {
    static ON_QUEUE_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread belongs to a queue.
pub(crate) fn on_queue_thread() -> bool {
    ON_QUEUE_THREAD.with(Cell::get)
}

impl Queue {
    /// Makes a queue without threads. Threads start when jobs arrive.
    pub(crate) fn new(name: String, threads_max: usize, jobs_max: usize) -> Arc<Queue> {
        let state = State { jobs: VecDeque::new(), threads: 0, sleeping: 0, running: 0, closed: false };
        // The system ends a thread's name at a zero byte, and the standard library panics on such a name.
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

    /// Queues a job. Returns the job if the queue is closed or full, or if no thread could be started.
    pub(crate) fn push(self: &Arc<Queue>, job: Job) -> Result<(), (Refused, Job)> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err((Refused::Closed, job));
        }
        if state.jobs.len() >= self.jobs_max {
            return Err((Refused::Full, job));
        }
        if self.thread_wanted(&state) {
            match self.spawn() {
                Ok(()) => state.threads += 1,
                Err(_) if state.threads == 0 => return Err((Refused::NoThread, job)),
                Err(_) => {}
            }
        }
        state.jobs.push_back((Instant::now(), job));
        drop(state);
        self.ready.notify_one();
        Ok(())
    }

    /// Queues a job that must run, even beyond the limit of jobs and on a closed queue. The caller bounds the number of such jobs. If the
    /// queue has no thread and the system starts none, the calling thread runs the queue's jobs in order.
    pub(crate) fn push_always(self: &Arc<Queue>, job: Job) {
        let mut state = lock(&self.state);
        if !state.closed && self.thread_wanted(&state) && self.spawn().is_ok() {
            state.threads += 1;
        }
        state.jobs.push_back((Instant::now(), job));
        if state.threads == 0 {
            state.threads = 1;
            self.stand_in(state);
        } else {
            drop(state);
            self.ready.notify_one();
        }
    }

    fn thread_wanted(&self, state: &State) -> bool {
        state.sleeping <= state.jobs.len() && state.threads < self.threads_max
    }

    fn spawn(self: &Arc<Queue>) -> std::io::Result<()> {
        let queue = self.clone();
        thread::Builder::new().name(self.name.clone()).spawn(move || queue.run()).map(drop)
    }

    /// Runs jobs on this thread until none is left or a new thread takes over. `threads` counts this thread as the queue's only thread.
    #[cold]
    fn stand_in<'a>(self: &'a Arc<Queue>, mut state: MutexGuard<'a, State>) {
        let outer = ON_QUEUE_THREAD.replace(true);
        while let Some((at, job)) = state.jobs.pop_front() {
            state = self.run_one(state, at, job);
            if !state.closed && !state.jobs.is_empty() && self.spawn().is_ok() {
                ON_QUEUE_THREAD.set(outer);
                return; // the new thread takes this thread's place in the count
            }
        }
        ON_QUEUE_THREAD.set(outer);
        state.threads -= 1;
        self.idle.notify_all();
    }

    fn run(&self) {
        ON_QUEUE_THREAD.with(|inside| inside.set(true));
        let mut state = lock(&self.state);
        loop {
            if let Some((at, job)) = state.jobs.pop_front() {
                state = self.run_one(state, at, job);
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

    /// Runs a job on this thread, without the lock.
    fn run_one<'a>(&'a self, mut state: MutexGuard<'a, State>, at: Instant, job: Job) -> MutexGuard<'a, State> {
        state.running += 1;
        drop(state);
        job(Ran::After(at.elapsed()));
        let mut state = lock(&self.state);
        state.running -= 1;
        state
    }

    /// Closes the queue. Queued jobs still run until `until`. Then this function calls the remaining jobs with `Ran::Cancelled`. Returns
    /// true if no job runs any more. Threads without a job end soon after, and this function does not wait for them.
    pub(crate) fn close(&self, until: Instant) -> bool {
        let mut state = lock(&self.state);
        state.closed = true;
        self.ready.notify_all();
        // A thread that has run the last job ends at once, and each thread that ends notifies `idle`.
        while state.running > 0 || !state.jobs.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.idle.wait_timeout(state, left);
            state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        let left = std::mem::take(&mut state.jobs);
        let ended = state.running == 0;
        drop(state);
        for (_, job) in left {
            job(Ran::Cancelled);
        }
        ended
    }
}

/// Why a queue refuses a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    Closed,
    Full,
    NoThread,
}

impl Refused {
    /// Returns the status for this reason.
    pub(crate) fn status(self) -> Status {
        match self {
            Refused::Closed => CLEARWAY_CLOSED,
            Refused::Full => CLEARWAY_FULL,
            Refused::NoThread => CLEARWAY_OUT_OF_MEMORY,
        }
    }
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
        assert_eq!(heard.recv(), Ok(Ran::Cancelled));
        assert!(matches!(queue.push(Box::new(|_| {})), Err((Refused::Closed, _))));
        drop(end);
        assert!(queue.close(Instant::now() + LONG));
    }

    #[test]
    fn closing_without_a_timeout_waits_for_no_thread_that_has_nothing_to_run() {
        let queue = Queue::new("test".into(), 1, 1000);
        queue.push(Box::new(|_| {})).map_err(|(why, _)| why).unwrap();
        while lock(&queue.state).sleeping == 0 {
            thread::yield_now();
        }
        assert!(queue.close(Instant::now()), "the thread waits for a job");

        let queue = Queue::new("test".into(), 0, 1000);
        lock(&queue.state).threads = 1; // as if the thread had not begun yet
        let (told, heard) = channel();
        queue.push(Box::new(move |ran| told.send(ran).unwrap())).map_err(|(why, _)| why).unwrap();
        assert!(queue.close(Instant::now()));
        assert_eq!(heard.try_recv(), Ok(Ran::Cancelled));
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
    fn a_job_that_must_run_is_queued_by_a_full_queue_and_by_a_closed_one() {
        let queue = Queue::new("test".into(), 1, 1);
        let (end, ends) = channel::<()>();
        let (told, heard) = channel();
        let tell = |what: &'static str| {
            let told = told.clone();
            Box::new(move |_| told.send((what, on_queue_thread())).unwrap())
        };
        queue.push(Box::new(move |_| ends.recv().unwrap_err().to_string().clear())).map_err(|(why, _)| why).unwrap();
        while !lock(&queue.state).jobs.is_empty() {
            thread::yield_now();
        }
        queue.push(tell("in the limit")).map_err(|(why, _)| why).unwrap();
        queue.push_always(tell("beyond the limit"));
        lock(&queue.state).closed = true;
        queue.push_always(tell("after the close"));
        assert!(heard.try_recv().is_err(), "all of them wait for their turn");
        drop(end);
        for what in ["in the limit", "beyond the limit", "after the close"] {
            assert_eq!(heard.recv(), Ok((what, true)));
        }
        assert!(queue.close(Instant::now() + LONG));
    }

    #[test]
    fn a_job_that_must_run_runs_on_the_callers_thread_where_the_queue_has_none() {
        let queue = Queue::new("test".into(), 0, 1); // as if no thread could be started
        let (told, heard) = channel();
        let (again, after) = (queue.clone(), told.clone());
        queue.push_always(Box::new(move |_| {
            assert!(on_queue_thread(), "closing here would wait for itself");
            again.push_always(Box::new(move |_| after.send(2).unwrap()));
            told.send(1).unwrap();
        }));
        assert_eq!(heard.try_recv(), Ok(1), "before `push_always` returned");
        assert!(!on_queue_thread());
        assert_eq!(heard.recv(), Ok(2), "after the first, on a thread that was started for it");
        assert!(queue.close(Instant::now() + LONG));
    }

    #[test]
    fn a_full_queue_gives_the_job_back() {
        let queue = Queue::new("test".into(), 0, 1);
        lock(&queue.state).threads = 1; // no real thread, so the job stays queued
        queue.push(Box::new(|_| {})).map_err(|(why, _)| why).unwrap();
        assert!(matches!(queue.push(Box::new(|_| {})), Err((Refused::Full, _))));
    }
}
