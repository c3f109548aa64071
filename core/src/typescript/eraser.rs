//! Finds what of a module is type syntax: the parts of the source that erasing blanks out.
//!
//! Blanking alone can join what a type kept apart, because types end at line breaks where
//! expressions continue. In such places a `;`, or a parenthesis that has to move, is written over
//! the first or last character of the blanked part.

use std::ops::Range;

use oxc_allocator::Vec as ArenaVec;
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_parser::{Kind, Token};
use oxc_span::{GetSpan, Span};

use super::fault::is_line_break;
use super::render::Edit;

const ENUM: &str = "an enum stands for code and cannot be erased";
const NAMESPACE: &str = "a namespace with values stands for code and cannot be erased";
const MODULE: &str = "`module` cannot be erased, write `namespace`";
const IMPORT_EQUALS: &str = "`import =` stands for code and cannot be erased, write `import`";
const EXPORT_EQUALS: &str =
    "`export =` stands for code and cannot be erased, write `export default`";
const PARAMETER_PROPERTY: &str = "a parameter property stands for code and cannot be erased";
const ASSERTION: &str = "`<T>value` cannot be erased, write `value as T`";

/// Syntax that stands for code and so cannot be erased.
pub(super) struct Problem {
    pub message: &'static str,
    pub span: Range<usize>,
}

/// The edits that turn a module into JavaScript, or the first thing that forbids it.
pub(super) fn edits(
    source: &str,
    program: &Program<'_>,
    tokens: &[Token],
) -> Result<Vec<Edit>, Problem> {
    let mut eraser = Eraser { source, tokens, edits: Vec::new(), problem: None, unended: None };
    eraser.visit_program(program);
    match eraser.problem {
        Some(problem) => Err(problem),
        None => Ok(eraser.edits),
    }
}

/// What becomes of a statement or a class element.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Item {
    Kept,
    Dropped,
}

pub(super) struct Eraser<'s> {
    source: &'s str,
    tokens: &'s [Token],
    edits: Vec<Edit>,
    problem: Option<Problem>,
    /// The end of the statement or class element before, where it was kept.
    unended: Option<u32>,
}

impl<'s> Eraser<'s> {
    pub(super) fn blank(&mut self, start: u32, end: u32) {
        if start < end {
            self.edits.push(Edit { start, end, put: None });
        }
    }

    pub(super) fn blank_span(&mut self, span: Span) {
        self.blank(span.start, span.end);
    }

    pub(super) fn put(&mut self, at: u32, character: char) {
        self.edits.push(Edit { start: at, end: at + 1, put: Some(character) });
    }

    fn refuse(&mut self, span: Span, message: &'static str) {
        let span = span.start as usize..span.end as usize;
        if self.problem.as_ref().is_none_or(|first| span.start < first.span.start) {
            self.problem = Some(Problem { message, span });
        }
    }

    /// The tokens that start at `position` or behind it.
    pub(super) fn tokens_from(&self, position: u32) -> &'s [Token] {
        let at = self.tokens.partition_point(|token| token.start() < position);
        self.tokens.get(at..).unwrap_or_default()
    }

    pub(super) fn next(&self, position: u32) -> Option<&'s Token> {
        self.tokens_from(position).first()
    }

    /// The last token that starts in front of `position`.
    pub(super) fn before(&self, position: u32) -> Option<&'s Token> {
        let at = self.tokens.partition_point(|token| token.start() < position);
        self.tokens.get(at.checked_sub(1)?)
    }

    pub(super) fn find(&self, from: u32, to: u32, kind: Kind) -> Option<&'s Token> {
        let tokens = self.tokens_from(from).iter();
        tokens.take_while(|token| token.start() < to).find(|token| token.kind() == kind)
    }

    /// Blanks the first token of a kind in a range and returns where it started.
    pub(super) fn blank_token(&mut self, from: u32, to: u32, kind: Kind) -> Option<u32> {
        let token = self.find(from, to, kind)?;
        self.blank(token.start(), token.end());
        Some(token.start())
    }

    /// Whether a line break lies between two offsets, be it inside a token or a comment: blanking
    /// keeps it.
    fn is_broken(&self, from: u32, to: u32) -> bool {
        let text = self.source.get(from as usize..to as usize);
        text.is_some_and(|text| text.contains(is_line_break))
    }

    /// Whether the statement or element before ends without a semicolon of its own.
    pub(super) fn is_unended(&self) -> bool {
        self.unended
            .is_some_and(|end| self.before(end).is_none_or(|token| token.kind() != Kind::Semicolon))
    }

    /// Blanks a whole statement or class element.
    pub(super) fn drop_item(&mut self, span: Span) -> Item {
        self.blank_span(span);
        if self.is_unended() {
            self.put(span.start, ';');
        }
        Item::Dropped
    }

    /// Visits statements or class elements, knowing for each how the one before ended.
    pub(super) fn visit_items<T: GetSpan>(
        &mut self,
        items: &[T],
        mut visit: impl FnMut(&mut Self, &T) -> Item,
    ) {
        let outer = self.unended.take();
        for item in items {
            if visit(self, item) == Item::Kept {
                self.unended = Some(item.span().end);
            }
        }
        self.unended = outer;
    }

    /// Blanks the type behind an expression that ends at `from`.
    fn blank_suffix(&mut self, from: u32, end: u32) {
        self.blank(from, end);
        let continues = self.next(end).is_some_and(|token| {
            matches!(
                token.kind(),
                Kind::LParen | Kind::LBrack | Kind::NoSubstitutionTemplate | Kind::TemplateHead
            )
        });
        // The type ended a statement that the bare expression would continue.
        if continues && let Some(first) = self.next(from) {
            self.put(first.start(), ';');
        }
    }

    /// Blanks an import or export specifier, or a `this` parameter, and the comma behind it.
    fn blank_listed(&mut self, span: Span) {
        let comma = self.next(span.end).filter(|token| token.kind() == Kind::Comma);
        self.blank(span.start, comma.map_or(span.end, Token::end));
    }

    /// Moves a parenthesis so that no line break comes between it and what must follow it.
    fn move_arrow_parentheses(&mut self, it: &ArrowFunctionExpression<'_>) {
        if let Some(types) = &it.type_parameters
            && let Some(open) = self.next(types.span.end)
            && self.is_broken(types.span.start, open.start())
        {
            self.blank(open.start(), open.end());
            self.put(types.span.start, '(');
        }
        if let Some(types) = &it.return_type
            && let Some(arrow) = self.next(types.span.end)
            && let Some(close) = self.before(types.span.start)
            && self.is_broken(close.end(), arrow.start())
        {
            self.blank(close.start(), close.end());
            let text = self.source.get(..types.span.end as usize).unwrap_or_default();
            let last = text.chars().next_back().map_or(1, char::len_utf8);
            self.put(types.span.end - u32::try_from(last).unwrap_or(1), ')');
        }
    }

    /// Drops a declaration that is only types; `span` includes an `export` in front.
    fn visit_erasable(&mut self, declaration: &Declaration<'_>, span: Span) -> Option<Item> {
        let refusal = match declaration {
            Declaration::VariableDeclaration(it) => return self.drop_if(it.declare, span),
            Declaration::FunctionDeclaration(it) => {
                return self.drop_if(it.declare || it.body.is_none(), span);
            }
            Declaration::ClassDeclaration(it) => return self.drop_if(it.declare, span),
            Declaration::TSEnumDeclaration(it) => (!it.declare).then_some((it.span, ENUM)),
            Declaration::TSExternalModuleDeclaration(it) => {
                (!it.declare).then_some((it.span, NAMESPACE))
            }
            Declaration::TSNamespaceDeclaration(it) if it.declare => None,
            Declaration::TSNamespaceDeclaration(it) => match it.kind {
                TSNamespaceDeclarationKind::Module => Some((it.span, MODULE)),
                TSNamespaceDeclarationKind::Namespace => {
                    (!is_only_types(&it.body)).then_some((it.span, NAMESPACE))
                }
            },
            Declaration::TSImportEqualsDeclaration(it) => {
                (!it.import_kind.is_type()).then_some((it.span, IMPORT_EQUALS))
            }
            Declaration::TSTypeAliasDeclaration(_)
            | Declaration::TSInterfaceDeclaration(_)
            | Declaration::TSGlobalDeclaration(_) => None,
        };
        match refusal {
            Some((span, message)) => {
                self.refuse(span, message);
                Some(Item::Kept)
            }
            None => Some(self.drop_item(span)),
        }
    }

    fn drop_if(&mut self, erasable: bool, span: Span) -> Option<Item> {
        erasable.then(|| self.drop_item(span))
    }

    fn visit_item(&mut self, it: &Statement<'_>) -> Item {
        let span = it.span();
        let item = match it {
            Statement::ImportDeclaration(it) => self.drop_if(it.import_kind.is_type(), span),
            Statement::ExportAllDeclaration(it) => self.drop_if(it.export_kind.is_type(), span),
            Statement::ExportNamedDeclaration(it) => self.drop_if(it.export_kind.is_type(), span),
            Statement::ExportFromDeclaration(it) => self.drop_if(it.export_kind.is_type(), span),
            Statement::TSNamespaceExportDeclaration(_) => Some(self.drop_item(span)),
            Statement::TSExportAssignment(_) => {
                self.refuse(span, EXPORT_EQUALS);
                Some(Item::Kept)
            }
            Statement::ExportDeclaration(it) => self.visit_erasable(&it.declaration, span),
            Statement::ExportDefaultDeclaration(it) => match &it.declaration {
                ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => {
                    Some(self.drop_item(span))
                }
                ExportDefaultDeclarationKind::FunctionDeclaration(it) => {
                    self.drop_if(it.body.is_none(), span)
                }
                _ => None,
            },
            _ => it.as_declaration().and_then(|it| self.visit_erasable(it, span)),
        };
        item.unwrap_or_else(|| {
            walk::walk_statement(self, it);
            Item::Kept
        })
    }
}

/// Whether a namespace declares nothing that exists at run time.
fn is_only_types(body: &TSNamespaceDeclarationBody<'_>) -> bool {
    let mut open = vec![body];
    while let Some(body) = open.pop() {
        let block = match body {
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => {
                open.push(&inner.body);
                continue;
            }
            TSNamespaceDeclarationBody::TSModuleBlock(block) => block,
        };
        for statement in &block.body {
            let declaration = match statement {
                Statement::ExportDeclaration(it) => Some(&it.declaration),
                _ => statement.as_declaration(),
            };
            match declaration {
                Some(
                    Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_),
                ) => {}
                Some(Declaration::TSNamespaceDeclaration(inner)) if inner.declare => {}
                Some(Declaration::TSNamespaceDeclaration(inner)) => open.push(&inner.body),
                _ => return false,
            }
        }
    }
    true
}

impl<'a> Visit<'a> for Eraser<'_> {
    fn visit_statements(&mut self, it: &ArenaVec<'a, Statement<'a>>) {
        self.visit_items(it, Self::visit_item);
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.blank_span(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.blank_span(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.blank_span(it.span);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.blank_listed(it.span);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            return self.refuse(it.span, PARAMETER_PROPERTY);
        }
        if it.optional {
            let end = it.type_annotation.as_ref().map_or(u32::MAX, |types| types.span.start);
            self.blank_token(it.pattern.span().end, end, Kind::Question);
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.blank_token(it.id.span().end, it.span.end, Kind::Bang);
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_suffix(it.expression.span().end, it.span.end);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_suffix(it.expression.span().end, it.span.end);
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_suffix(it.type_arguments.span.start, it.span.end);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank(it.span.end.saturating_sub(1), it.span.end);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.refuse(it.span, ASSERTION);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.move_arrow_parentheses(it);
        walk::walk_arrow_function_expression(self, it);
    }

    fn visit_import_specifier(&mut self, it: &ImportSpecifier<'a>) {
        if it.import_kind.is_type() {
            self.blank_listed(it.span);
        }
    }

    fn visit_export_specifier(&mut self, it: &ExportSpecifier<'a>) {
        if it.export_kind.is_type() {
            self.blank_listed(it.span);
        }
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.erase_class(it);
    }

    fn visit_class_elements(&mut self, it: &ArenaVec<'a, ClassElement<'a>>) {
        self.visit_items(it, Self::visit_element);
    }
}
