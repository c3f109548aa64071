//! Every file operation of every command that writes is made to fail, and to be the last one.

mod checks;
mod child;
mod flushes;
mod homes;
mod place;
mod scenarios;
mod shipped;
mod sweep;
mod traces;
mod walk;
