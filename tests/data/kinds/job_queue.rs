//! A queue of jobs that several worker threads share.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The number of a job.
pub type JobId = u64;

/// What became of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done(String),
    Failed(String),
    Cancelled,
}

/// A job that waits for a worker.
pub struct Job {
    id: JobId,
    name: String,
    queued: Instant,
    run: Box<dyn FnOnce() -> Result<String, String> + Send>,
}

/// Counts of what the workers did.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    pub done: u64,
    pub failed: u64,
    pub cancelled: u64,
    pub waited: Duration,
}

struct Shared {
    waiting: Mutex<VecDeque<Job>>,
    arrived: Condvar,
    outcomes: Mutex<HashMap<JobId, Outcome>>,
    statistics: Mutex<Statistics>,
    by_name: Mutex<BTreeMap<String, Vec<JobId>>>,
    is_closed: AtomicBool,
    next_id: AtomicU64,
}

/// A handle to the queue; clones share it.
#[derive(Clone)]
pub struct Queue {
    shared: Arc<Shared>,
}

impl Queue {
    pub fn new() -> Self {
        Queue {
            shared: Arc::new(Shared {
                waiting: Mutex::new(VecDeque::new()),
                arrived: Condvar::new(),
                outcomes: Mutex::new(HashMap::new()),
                statistics: Mutex::new(Statistics::default()),
                by_name: Mutex::new(BTreeMap::new()),
                is_closed: AtomicBool::new(false),
                next_id: AtomicU64::new(1),
            }),
        }
    }

    /// Put a job at the end of the queue.
    pub fn push<F>(&self, name: &str, run: F) -> JobId
    where
        F: FnOnce() -> Result<String, String> + Send + 'static,
    {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let job = Job {
            id,
            name: name.to_string(),
            queued: Instant::now(),
            run: Box::new(run),
        };
        let mut names = self.shared.by_name.lock().unwrap();
        names.entry(name.to_string()).or_default().push(id);
        drop(names);
        self.shared.waiting.lock().unwrap().push_back(job);
        self.shared.arrived.notify_one();
        id
    }

    /// Take a job out of the queue before a worker begins it.
    pub fn cancel(&self, id: JobId) -> bool {
        let mut waiting = self.shared.waiting.lock().unwrap();
        let before = waiting.len();
        waiting.retain(|job| job.id != id);
        let is_cancelled = waiting.len() < before;
        drop(waiting);
        if is_cancelled {
            self.shared.outcomes.lock().unwrap().insert(id, Outcome::Cancelled);
            self.shared.statistics.lock().unwrap().cancelled += 1;
        }
        is_cancelled
    }

    /// The number of jobs that wait.
    pub fn len(&self) -> usize {
        self.shared.waiting.lock().unwrap().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The outcome of a job, if it has one.
    pub fn outcome(&self, id: JobId) -> Option<Outcome> {
        self.shared.outcomes.lock().unwrap().get(&id).cloned()
    }

    /// The jobs that were pushed under a name, oldest first.
    pub fn jobs_named(&self, name: &str) -> Vec<JobId> {
        let names = self.shared.by_name.lock().unwrap();
        names.get(name).cloned().unwrap_or_default()
    }

    pub fn statistics(&self) -> Statistics {
        self.shared.statistics.lock().unwrap().clone()
    }

    /// Let the workers stop when nothing waits any more.
    pub fn close(&self) {
        self.shared.is_closed.store(true, Ordering::Release);
        self.shared.arrived.notify_all();
    }

    /// Start worker threads.
    pub fn start(&self, count: usize) -> Vec<JoinHandle<()>> {
        (0..count)
            .map(|_| {
                let queue = self.clone();
                thread::spawn(move || queue.work())
            })
            .collect()
    }

    fn work(&self) {
        while let Some(job) = self.next() {
            let waited = job.queued.elapsed();
            let outcome = match (job.run)() {
                Ok(answer) => Outcome::Done(answer),
                Err(message) => Outcome::Failed(format!("{}: {}", job.name, message)),
            };
            let mut statistics = self.shared.statistics.lock().unwrap();
            statistics.waited += waited;
            match outcome {
                Outcome::Done(_) => statistics.done += 1,
                Outcome::Failed(_) => statistics.failed += 1,
                Outcome::Cancelled => statistics.cancelled += 1,
            }
            drop(statistics);
            self.shared.outcomes.lock().unwrap().insert(job.id, outcome);
        }
    }

    fn next(&self) -> Option<Job> {
        let mut waiting = self.shared.waiting.lock().unwrap();
        loop {
            if let Some(job) = waiting.pop_front() {
                return Some(job);
            }
            if self.shared.is_closed.load(Ordering::Acquire) {
                return None;
            }
            let pause = Duration::from_millis(50);
            let (guard, _) = match self.shared.arrived.wait_timeout(waiting, pause) {
                Ok(pair) => pair,
                Err(poisoned) => poisoned.into_inner(),
            };
            waiting = guard;
        }
    }
}

impl Default for Queue {
    fn default() -> Self {
        Queue::new()
    }
}
