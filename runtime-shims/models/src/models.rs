//! The models. Each has two or three threads, which do one thing each.

mod announcements;
