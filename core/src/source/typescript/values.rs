//! What an expression is, as far as its outside tells.

use oxc_ast::ast::*;

use crate::typescript::bare;

/// `process.env`.
pub(super) fn is_environment(it: &Expression<'_>) -> bool {
    match it {
        Expression::StaticMemberExpression(member) => {
            member.property.name == "env"
                && matches!(&member.object, Expression::Identifier(object) if object.name == "process")
        }
        _ => false,
    }
}

/// A text that is written here as a whole.
pub(super) fn whole_text<'p>(it: &'p Expression<'_>) -> Option<&'p str> {
    match bare(it) {
        Expression::StringLiteral(text) => Some(text.value.as_str()),
        Expression::TemplateLiteral(text) if text.expressions.is_empty() => text_start(bare(it)),
        _ => None,
    }
}

/// How a text begins that is written here.
pub(super) fn text_start<'p>(it: &'p Expression<'_>) -> Option<&'p str> {
    match it {
        Expression::StringLiteral(text) => Some(text.value.as_str()),
        Expression::TemplateLiteral(text) => {
            text.quasis.first().and_then(|part| part.value.cooked.as_ref()).map(|it| it.as_str())
        }
        _ => None,
    }
}

/// Whether a value comes about without anything being called or changed, as far as its outside tells.
pub(super) fn is_inert(it: &Expression<'_>) -> bool {
    match bare(it) {
        Expression::StringLiteral(_)
        | Expression::NumericLiteral(_)
        | Expression::BooleanLiteral(_)
        | Expression::NullLiteral(_)
        | Expression::RegExpLiteral(_)
        | Expression::Identifier(_)
        | Expression::ArrowFunctionExpression(_)
        | Expression::FunctionExpression(_) => true,
        Expression::TemplateLiteral(it) => it.expressions.is_empty(),
        Expression::UnaryExpression(it) => is_inert(&it.argument),
        Expression::BinaryExpression(it) => is_inert(&it.left) && is_inert(&it.right),
        Expression::ArrayExpression(it) => {
            it.elements.iter().all(|item| item.as_expression().is_some_and(is_inert))
        }
        Expression::ObjectExpression(it) => it.properties.iter().all(|property| match property {
            ObjectPropertyKind::ObjectProperty(it) => !it.computed && is_inert(&it.value),
            ObjectPropertyKind::SpreadProperty(_) => false,
        }),
        _ => false,
    }
}
