//! The state that optimisers keep between steps, for any parameters: the structs of the language's file `optim`.
//!
//! A function of `mind!` takes a state as `state: &mut optim::Adam<Net>`, and `optim::adam_step` returns its successor.
//! A test of the facade compares the fields with those of that file.

use crate::parameters::{Parameter, ParameterMut, Parameters};

/// Defines structs whose fields are parameters of type `P`, with a count of the steps where an optimiser needs it.
macro_rules! states {
    ($(
        $(#[$words:meta])*
        $name:ident { $($(#[$of_field:meta])* $field:ident),* $(; $(#[$of_count:meta])* $count:ident)? }
    )*) => { $(
        $(#[$words])*
        ///
        /// The struct is [`Parameters`] too, so it is saved and loaded in the same way.
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name<P> {
            $($(#[$of_field])* pub $field: P,)*
            $($(#[$of_count])* pub $count: i64,)?
        }

        impl<P: Parameters + Clone> $name<P> {
            /// The state before the first step: zeros in the shapes of `parameters`.
            #[must_use]
            pub fn zeros_like(parameters: &P) -> Self {
                Self { $($field: zeros_like(parameters),)* $($count: 0,)? }
            }
        }

        impl<P: Parameters> Parameters for $name<P> {
            fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Parameter<'a>)) {
                $(self.$field.visit(&mut |part| visitor(part.under(stringify!($field))));)*
                $(visitor(Parameter::number(stringify!($count), &self.$count));)?
            }

            fn visit_mut<'a>(&'a mut self, visitor: &mut dyn FnMut(ParameterMut<'a>)) {
                $(self.$field.visit_mut(&mut |part| visitor(part.under(stringify!($field))));)*
                $(visitor(ParameterMut::number(stringify!($count), &mut self.$count));)?
            }
        }
    )* };
}

states! {
    /// The state that `optim::adam_step` and `optim::adamw_step` keep for parameters.
    ///
    /// ```
    /// use mind_rt::{Parameters, Tensor, optim::Adam};
    ///
    /// let weights: Tensor![f32; 2, 3] = Tensor::full(1.0);
    /// let state = Adam::zeros_like(&weights);
    /// assert_eq!(state.mean, Tensor::zeros());
    /// assert_eq!(state.steps, 0);
    /// let names: Vec<_> = state.parameters().into_iter().map(|part| part.name).collect();
    /// assert_eq!(names, ["mean", "square", "steps"]);
    /// ```
    Adam {
        /// The mean of the gradients.
        mean,
        /// The mean of the squared gradients.
        square;
        /// The number of steps taken.
        steps
    }

    /// The state that `optim::momentum_step`, `optim::nesterov_step` and `optim::muon_step` keep for parameters.
    Momentum {
        /// The sum of the gradients, in which older gradients have smaller weights.
        velocity
    }

    /// The state that `optim::rmsprop_step` keeps for parameters.
    RmsProp {
        /// The mean of the squared gradients.
        square
    }

    /// The state that `optim::adagrad_step` keeps for parameters.
    AdaGrad {
        /// The sum of the squared gradients.
        squares
    }

    /// The state that `optim::lion_step` keeps for parameters.
    Lion {
        /// The mean of the gradients.
        mean
    }
}

/// Parameters of the same shapes, all of them zero.
fn zeros_like<P: Parameters + Clone>(parameters: &P) -> P {
    let mut zeros = parameters.clone();
    zeros.visit_mut(&mut |part| part.elements.clear());
    zeros
}
