//! What erasing does to classes: modifiers, heritage, and elements that are only types.

use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_parser::{Kind, Token};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::eraser::{Eraser, Item};

impl<'s> Eraser<'s> {
    pub(super) fn erase_class(&mut self, it: &Class<'_>) {
        if it.r#abstract {
            let from = behind_decorators(&it.decorators, it.span.start);
            self.blank_token(from, it.body.span.start, Kind::Abstract);
        }
        if let (Some(first), Some(last)) = (it.implements.first(), it.implements.last()) {
            let keyword = self.before(first.span.start).map_or(first.span.start, Token::start);
            let arguments = last.type_arguments.as_ref().map_or(0, |types| types.span.end);
            self.blank(keyword, last.span.end.max(arguments));
        }
        self.visit_decorators(&it.decorators);
        if let Some(types) = &it.type_parameters {
            self.blank_span(types.span);
        }
        if let Some(heritage) = &it.heritage {
            self.visit_class_heritage(heritage);
        }
        self.visit_class_body(&it.body);
    }

    pub(super) fn visit_element(&mut self, it: &ClassElement<'_>) -> Item {
        match it {
            ClassElement::TSIndexSignature(it) => self.drop_item(it.span),
            ClassElement::MethodDefinition(it) => self.visit_method(it),
            ClassElement::PropertyDefinition(it) => {
                let only_type = it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition;
                if it.declare || only_type {
                    return self.drop_item(it.span);
                }
                self.visit_field(&Field {
                    span: it.span,
                    decorators: &it.decorators,
                    key: &it.key,
                    computed: it.computed,
                    types: it.type_annotation.as_ref().map(|types| types.span),
                    value: it.value.as_ref(),
                })
            }
            ClassElement::AccessorProperty(it) => {
                if it.r#type == AccessorPropertyType::TSAbstractAccessorProperty {
                    return self.drop_item(it.span);
                }
                self.visit_field(&Field {
                    span: it.span,
                    decorators: &it.decorators,
                    key: &it.key,
                    computed: it.computed,
                    types: it.type_annotation.as_ref().map(|types| types.span),
                    value: it.value.as_ref(),
                })
            }
            ClassElement::StaticBlock(_) => {
                walk::walk_class_element(self, it);
                Item::Kept
            }
        }
    }

    fn visit_method(&mut self, it: &MethodDefinition<'_>) -> Item {
        let only_type = it.r#type == MethodDefinitionType::TSAbstractMethodDefinition;
        if only_type || it.value.body.is_none() {
            return self.drop_item(it.span);
        }
        self.blank_modifiers(it.span.start, &it.decorators, self.key_start(&it.key, it.computed));
        if it.optional {
            let key_end = self.key_end(&it.key, it.computed);
            self.blank_token(key_end, it.value.params.span.start, Kind::Question);
        }
        self.visit_decorators(&it.decorators);
        self.visit_property_key(&it.key);
        self.visit_function(&it.value, ScopeFlags::empty());
        Item::Kept
    }

    fn visit_field(&mut self, it: &Field<'_, '_>) -> Item {
        self.blank_modifiers(it.span.start, it.decorators, self.key_start(it.key, it.computed));
        let key_end = self.key_end(it.key, it.computed);
        let value_start = it.value.map(|value| value.span().start);
        let stop = it.types.map(|types| types.start).or(value_start).unwrap_or(it.span.end);
        let mark = self
            .blank_token(key_end, stop, Kind::Question)
            .or_else(|| self.blank_token(key_end, stop, Kind::Bang));
        if let Some(types) = it.types {
            self.blank_span(types);
        }
        // `get: T` in front of `foo() {}` must not become a getter.
        if it.value.is_none()
            && let Some(at) = mark.or(it.types.map(|types| types.start))
        {
            let end = it.types.map_or(at + 1, |types| types.end);
            let ended = [Kind::Semicolon, Kind::RCurly];
            if self.next(end).is_some_and(|token| !ended.contains(&token.kind())) {
                self.put(at, ';');
            }
        }
        self.visit_decorators(it.decorators);
        self.visit_property_key(it.key);
        if let Some(value) = it.value {
            self.visit_expression(value);
        }
        Item::Kept
    }

    fn blank_modifiers(&mut self, start: u32, decorators: &[Decorator<'_>], key: u32) {
        let from = behind_decorators(decorators, start);
        let modifiers = self.tokens_from(from).iter().take_while(|token| token.start() < key);
        for (position, token) in modifiers.enumerate() {
            let erasable = matches!(
                token.kind(),
                Kind::Public
                    | Kind::Private
                    | Kind::Protected
                    | Kind::Readonly
                    | Kind::Override
                    | Kind::Declare
                    | Kind::Abstract
            );
            if !erasable {
                continue;
            }
            self.blank(token.start(), token.end());
            // The modifier kept `[` or `*` from continuing the field before.
            if position == 0 && decorators.is_empty() && self.is_unended() {
                self.put(token.start(), ';');
            }
        }
    }

    fn key_start(&self, key: &PropertyKey<'_>, computed: bool) -> u32 {
        let start = key.span().start;
        if computed { self.before(start).map_or(start, Token::start) } else { start }
    }

    fn key_end(&self, key: &PropertyKey<'_>, computed: bool) -> u32 {
        let end = key.span().end;
        let bracket = if computed { self.find(end, u32::MAX, Kind::RBrack) } else { None };
        bracket.map_or(end, Token::end)
    }
}

/// What fields and `accessor` fields have in common.
struct Field<'f, 'a> {
    span: Span,
    decorators: &'f oxc_allocator::Vec<'a, Decorator<'a>>,
    key: &'f PropertyKey<'a>,
    computed: bool,
    types: Option<Span>,
    value: Option<&'f Expression<'a>>,
}

fn behind_decorators(decorators: &[Decorator<'_>], start: u32) -> u32 {
    decorators.last().map_or(start, |decorator| decorator.span.end.max(start))
}
