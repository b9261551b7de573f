//! Reading again what was read with too little knowledge.

/// What `read` returns once it learns nothing new: a table has to be read again with all that should have been known
/// from its first row.
pub fn until_nothing_new<K: Clone + PartialEq, T, E>(
    known: &mut K,
    mut read: impl FnMut(&mut K) -> Result<T, E>,
) -> Result<T, E> {
    loop {
        let before = known.clone();
        let found = read(known)?;
        if *known == before {
            return Ok(found);
        }
    }
}
