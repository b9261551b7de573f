//! The systems that are compared, and their parameters.

use orthorules::Params;
use orthorules::params::{Bound, Intercept, Preset, Search};

/// A system of the paper, or ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Method {
    /// Stable rules from a random forest.
    Sirus,
    /// Stagewise, gradient sum.
    Sgs,
    /// Stagewise, gradient boosting.
    Sgb,
    /// Stagewise, second order, branch and bound.
    Sxb,
    /// Corrective, gradient boosting objective.
    Cgb,
    /// Corrective, orthogonal, greedy.
    CobGreedy,
    /// Corrective, orthogonal, branch and bound.
    CobExact,
    /// This project's defaults.
    Ours,
}

impl Method {
    pub(crate) const ALL: [Self; 8] =
        [Self::Sirus, Self::Sgs, Self::Sgb, Self::Sxb, Self::Cgb, Self::CobGreedy, Self::CobExact, Self::Ours];

    /// Short name, also that of files and columns.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sirus => "SIRUS",
            Self::Sgs => "SGS",
            Self::Sgb => "SGB",
            Self::Sxb => "SXB",
            Self::Cgb => "CGB",
            Self::CobGreedy => "COB_G",
            Self::CobExact => "COB_B",
            Self::Ours => "defaults",
        }
    }

    /// The name of its columns in the table of published results; CGB and our defaults are not in it.
    pub(crate) fn published(self) -> Option<&'static str> {
        match self {
            Self::Sirus => Some("SRS"),
            Self::Cgb | Self::Ours => None,
            other => Some(other.name()),
        }
    }

    pub(crate) fn color(self) -> &'static str {
        match self {
            Self::Sirus => "#8c8c8c",
            Self::Sgs => "#2a9d8f",
            Self::Sgb => "#e9a23b",
            Self::Sxb => "#3a6ea5",
            Self::Cgb => "#9b6fb0",
            Self::CobGreedy => "#f08080",
            Self::CobExact => "#c1121f",
            Self::Ours => "#111111",
        }
    }

    /// The parameters with greedy search.
    pub(crate) fn greedy(self, intercept: Intercept) -> Params {
        let preset = match self {
            Self::Sirus => Preset::Sirus,
            Self::Sgs => Preset::Sgs,
            Self::Sgb => Preset::Sgb,
            Self::Sxb => Preset::Sxb,
            Self::Cgb => Preset::Cgb,
            Self::CobGreedy | Self::CobExact => Preset::Cob,
            Self::Ours => return Params { max_complexity: Some(super::LEVELS), threads: Some(1), ..Params::default() },
        };
        if self == Self::Sirus {
            return Params { max_complexity: Some(super::LEVELS), threads: Some(1), ..preset.params() };
        }
        Params { intercept, threads: Some(1), ..preset.params() }
    }

    /// Whether the system searches by branch and bound; the published scripts did so for SGB too.
    pub(crate) fn is_exact(self, as_published: bool) -> bool {
        match self {
            Self::Sxb | Self::CobExact => true,
            Self::Sgb => as_published,
            _ => false,
        }
    }
}

/// `params` with branch and bound, cut by the paper's bound, and at most `nodes` expanded queries for a rule.
pub(crate) fn exact(params: Params, nodes: u64) -> Params {
    Params { search: Search::Exact, bound: Bound::Heuristic, node_limit: Some(nodes), ..params }
}
