//! Looks for what a JavaScript engine refuses before it runs a module, and says where it stands.
//!
//! An engine names neither file nor line of such a fault to whoever imported the module. So the
//! files of a module that did not load are looked at once more, here.

use oxc_ast::ast::{AccessorProperty, Decorator, Program, Statement};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::SemanticBuilder;
use oxc_span::{SourceType, Span};

use super::fault::{FaultCode, SyntaxFault};
use super::guard;

/// What a module looks like before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// Why no engine accepts it, the first in the text.
    pub fault: Option<SyntaxFault>,
    /// What its `import` and `export … from` name, in order, as far as they are no types.
    pub imports: Vec<String>,
}

/// Examines an ES module, JavaScript or TypeScript.
pub fn examine(source: &str) -> Examined {
    // TypeScript merges declarations that JavaScript refuses: without its types a module is looked at
    // as the engine sees it. One whose types stand for code is looked at as it is.
    let erased = super::erase(source);
    let (language, text) = match &erased {
        Ok(erased) => (SourceType::mjs(), erased.as_str()),
        Err(_) => (SourceType::ts(), source),
    };
    let examined = guard::parsed_as(language, text, |program, _| {
        let checked = SemanticBuilder::new().with_check_syntax_error(true).build(program);
        // Of two places the later one is that of the repetition, and the one that an engine names.
        let errors = checked.diagnostics.errors().map(|error| {
            let span = guard::places(error).max_by_key(|span| span.start);
            (span.unwrap_or(0..0), error.message.as_ref())
        });
        let first = errors.min_by_key(|(span, _)| span.start);
        let first = first.or_else(|| {
            let mut proposals = Proposals::default();
            proposals.visit_program(program);
            let (span, message) = proposals.first?;
            Some((span.start as usize..span.end as usize, message))
        });
        let fault = first.map(|(span, message)| {
            let span = same_place(text, span.start, source)..same_place(text, span.end, source);
            SyntaxFault::new(FaultCode::Invalid, guard::sentence(message), source, span)
        });
        Examined { fault, imports: imports(program) }
    });
    examined.unwrap_or_else(|fault| Examined { fault: Some(fault), imports: Vec::new() })
}

/// Syntax that the parser knows and engines do not.
#[derive(Default)]
struct Proposals {
    first: Option<(Span, &'static str)>,
}

impl<'a> Visit<'a> for Proposals {
    fn visit_decorator(&mut self, decorator: &Decorator<'a>) {
        self.first
            .get_or_insert((decorator.span, "a decorator stands for code and cannot be erased"));
    }

    fn visit_accessor_property(&mut self, property: &AccessorProperty<'a>) {
        let what = "an `accessor` field stands for code and cannot be erased";
        self.first.get_or_insert((property.span, what));
        walk::walk_accessor_property(self, property);
    }
}

/// The byte offset in `source` of a place in `erased`: both count the same UTF-16 units before it.
fn same_place(erased: &str, at: usize, source: &str) -> usize {
    let mut left = erased.get(..at).unwrap_or(erased).encode_utf16().count();
    let before = source.chars().take_while(|c| {
        let inside = left >= c.len_utf16();
        left = left.saturating_sub(c.len_utf16());
        inside
    });
    before.map(char::len_utf8).sum()
}

fn imports(program: &Program<'_>) -> Vec<String> {
    let named = program.body.iter().filter_map(|statement| match statement {
        Statement::ImportDeclaration(import) if import.import_kind.is_value() => {
            Some(&import.source)
        }
        Statement::ExportFromDeclaration(export) if export.export_kind.is_value() => {
            Some(&export.source)
        }
        Statement::ExportAllDeclaration(export) if export.export_kind.is_value() => {
            Some(&export.source)
        }
        _ => None,
    });
    named.map(|source| source.value.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_an_engine_refuses_is_found_where_it_stands() {
        for (source, line, column, word) in [
            ("const x = 1\nlet a; let a\n", 2, 12, "declared"),
            ("const a = 1\n\n  break\n", 3, 3, "break"),
            ("import { x } from './x.ts'\nconst x: number = 1\n", 2, 7, "declared"),
            ("export const a = 1\nexport { a }\n", 1, 14, "export"),
            ("const a: 'é😀' = 'é😀'; let b; let b\n", 1, 36, "declared"),
            ("const a = 010\n", 1, 11, "octal"),
            ("\nclass A { @log b() {} }\n", 2, 11, "decorator"),
            ("class A { accessor b = 1 }\n", 1, 11, "accessor"),
            ("const open = 'text\n", 1, 14, "unterminated"),
        ] {
            let fault = examine(source).fault.expect(source);
            assert_eq!((fault.line, fault.column), (line, column), "{source}: {fault}");
            assert!(fault.message.contains(word), "{source}: {fault}");
        }
    }

    #[test]
    fn what_an_engine_accepts_has_no_fault() {
        for source in [
            "interface A { a: 1 }\ninterface A { b: 2 }\nexport const a: A = { a: 1, b: 2 }\n",
            "type A = 1\nconst A = 1\nexport { A }\n",
            "function f(a: 1): 1\nfunction f(a: any) { return a }\nf(1)\n",
            "import type { x } from './x.ts'\nimport { type y } from './y.ts'\nvar a, a\nawait a\n",
            "declare const a: 1\nexport default class { #b = 1; has(o: object) { return #b in o } }\n",
        ] {
            assert_eq!(examine(source).fault, None, "{source}");
        }
    }

    #[test]
    fn imports_are_those_that_run() {
        let source = "import './a.ts'\nimport { b } from './b.ts'\nimport type { c } from './c.ts'
export { d } from './d.ts'\nexport * from './e.ts'\nexport type { f } from './f.ts'\nexport { b }\n";
        assert_eq!(examine(source).imports, ["./a.ts", "./b.ts", "./d.ts", "./e.ts"]);
    }

    #[test]
    fn nesting_does_not_exhaust_the_stack() {
        for deep in [
            format!("let a = {}1{}\n", "[".repeat(19_000), "]".repeat(19_000)),
            format!("{}{}\n", "{".repeat(19_000), "}".repeat(19_000)),
            format!("let a = {}1\n", "() => ".repeat(19_000)),
            format!("let a = 1{}\n", " + 1".repeat(19_000)),
            format!("{}1\n", "if (1) ".repeat(19_000)),
            format!("a{}\n", "?.b(c)".repeat(9_000)),
        ] {
            examine(&deep);
        }
    }
}
